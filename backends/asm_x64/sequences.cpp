// SPDX-License-Identifier: MIT
// The table of superinstructions, and the walk through their prefixes.

#include "asm_x64/sequences.hpp"

#include <algorithm>
#include <bit>

namespace mopvm::asm_x64
{
namespace
{
/// A member of a sequence, as sequences.inc writes it.
constexpr Token with(Unit unit,
                     std::uint8_t first = 0,
                     std::uint8_t second = 0,
                     std::uint8_t over = 0) noexcept
{
    return {.unit = unit, .first = first, .second = second, .over = over};
}

template <typename... Tokens>
constexpr Sequence make_sequence(Tokens... tokens) noexcept
{
    static_assert(sizeof...(Tokens) >= 2 && sizeof...(Tokens) <= max_sequence_length);
    return {.tokens = {tokens...}, .length = sizeof...(Tokens)};
}

constexpr bool is_sound(const Sequence& sequence) noexcept
{
    for (std::size_t i = 0; i < sequence.length; ++i) {
        const Token& token = sequence.tokens[i];
        const Shape of = shape(token.unit);
        const auto reaches = [&](std::uint8_t distance) {
            return distance <= i && distance <= max_distance;
        };
        const bool may_stand_here =
            can_be_in_sequence(of) && (!transfers(of) || i + 1 == sequence.length);
        const bool first_is_there =
            reaches(token.first) || (token.first == Token::same_base && i > 0);
        if (!may_stand_here || !first_is_there || !reaches(token.second) || !reaches(token.over))
            return false;
    }
    return true;
}

constexpr auto table = [] {
    using enum Unit;
    constexpr std::uint8_t same_base = Token::same_base;
    return std::to_array<Sequence>({
#define MOPVM_SEQUENCE(...) make_sequence(__VA_ARGS__),
#include "asm_x64/sequences.inc"
#undef MOPVM_SEQUENCE
    });
}();

static_assert(std::ranges::all_of(table, is_sound),
              "a sequence holds a unit that may not be in one, or not there");
}  // namespace

std::span<const Sequence> chosen_sequences() noexcept
{
    return table;
}

SequenceMatcher::SequenceMatcher(std::span<const Sequence> sequences)
{
    std::size_t tokens = 0;
    for (const Sequence& sequence : sequences)
        tokens += sequence.length;
    const std::size_t size = std::bit_ceil(2 * tokens + 2);
    m_edges.assign(size, {});
    m_shift = 32U - static_cast<unsigned>(std::countr_zero(size));

    for (std::size_t i = 0; i < sequences.size(); ++i) {
        Node node = root;
        for (const Token& token : sequences[i].span()) {
            Node next = node == root ? m_first[index(token.unit)] : edge(node, token);
            if (next == root) {
                next = static_cast<Node>(m_sequences.size());
                m_sequences.push_back(no_sequence);
                m_next_units.push_back(0);
                m_next_units[node] |= std::uint64_t{1} << (index(token.unit) % 64);
                if (node == root)
                    m_first[index(token.unit)] = next;
                else
                    insert(node, token, next);
            }
            node = next;
        }
        m_sequences[node] = static_cast<std::uint16_t>(i);
    }
}

void SequenceMatcher::insert(Node from, Token token, Node to)
{
    const std::uint32_t wanted = key(from, token);
    std::size_t i = slot(wanted);
    while (m_edges[i].key != 0)
        i = (i + 1) & (m_edges.size() - 1);
    m_edges[i] = {.key = wanted, .to = to};
}
}  // namespace mopvm::asm_x64
