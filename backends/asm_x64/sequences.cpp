// SPDX-License-Identifier: MIT
// The table of superinstructions, and the walk through their prefixes.

#include "asm_x64/sequences.hpp"

#include <algorithm>
#include <cassert>
#include <limits>
#include <tuple>
#include <utility>

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

/// Collects the prefixes, then lays out their rows.
class SequenceMatcher::Builder
{
public:
    explicit Builder(std::span<const Sequence> sequences)
    {
        for (std::size_t i = 0; i < sequences.size(); ++i) {
            Node node = root;
            for (const Token& token : sequences[i].span())
                node = follow(node, token);
            m_prefixes[node].sequence = static_cast<std::uint16_t>(i);
        }
    }

    std::vector<Edge> edges()
    {
        for (Prefix& prefix : m_prefixes) {
            std::ranges::sort(prefix.children, {}, [](const Child& child) {
                return std::tuple{child.unit, -preference(child.bits), child.bits};
            });
            prefix.row = place_for(prefix.children);
            for (const Child& child : prefix.children)
                m_edges[prefix.row + index(child.unit)].from = child.from;
        }
        // Every unit can be looked up in every row.
        m_edges.resize(m_edges.size() + unit_count);
        for (const Prefix& prefix : m_prefixes)
            fill(prefix);
        assert(m_edges.size() <= std::numeric_limits<std::uint16_t>::max());
        return std::move(m_edges);
    }

private:
    struct Child
    {
        Unit unit;
        TokenBits bits;
        Node from;
        Node node;
    };
    struct Prefix
    {
        std::vector<Child> children;
        std::uint16_t sequence = no_sequence;
        std::uint32_t row = 0;
    };

    Node follow(Node from, const Token& token)
    {
        const TokenBits bits = bits_of(token);
        for (const Child& child : m_prefixes[from].children) {
            if (child.unit == token.unit && child.bits == bits)
                return child.node;
        }
        const auto made = static_cast<Node>(m_prefixes.size());
        m_prefixes[from].children.push_back(
            {.unit = token.unit, .bits = bits, .from = from, .node = made});
        m_prefixes.emplace_back();
        return made;
    }

    /// Results that replace others first; then what takes both sources from host registers, the
    /// second alone, the first alone, none.
    static int preference(TokenBits bits) noexcept
    {
        const bool over = (bits & token_bit::all_over) != 0;
        const bool second = (bits & token_bit::all_second) != 0;
        const bool first = (bits & (token_bit::all_first | token_bit::same_base)) != 0;
        return (over ? 4 : 0) + (second ? 2 : 0) + (first ? 1 : 0);
    }

    /// A place for a row where the edges of the units of @p children are free.
    std::uint32_t place_for(std::span<const Child> children)
    {
        const auto is_free = [&](std::size_t place) {
            return std::ranges::all_of(children, [&](const Child& child) {
                const std::size_t at = place + index(child.unit);
                return at >= m_edges.size() || m_edges[at].from == nobody;
            });
        };
        std::size_t place = m_begin;
        while (!is_free(place))
            ++place;
        m_begin += (place - m_begin) / 2;
        if (!children.empty())
            m_edges.resize(std::max(m_edges.size(), place + index(children.back().unit) + 1));
        return static_cast<std::uint32_t>(place);
    }

    /// Those of one unit one after the other: the first in the row, the others at the end.
    void fill(const Prefix& prefix)
    {
        const std::vector<Child>& children = prefix.children;
        std::size_t at = 0;
        for (std::size_t i = 0; i < children.size(); ++i) {
            const Child& child = children[i];
            if (i == 0 || children[i - 1].unit != child.unit) {
                at = prefix.row + index(child.unit);
            } else {
                m_edges[at].next = static_cast<std::uint16_t>(m_edges.size());
                at = m_edges.size();
                m_edges.emplace_back();
            }
            // What leaves a result out must read all sources from where they are.
            const bool exact = (child.bits & token_bit::all_over) != 0;
            const Prefix& to = m_prefixes[child.node];
            m_edges[at] = {.from = child.from,
                           .looked_at = static_cast<std::uint16_t>(exact ? ~0U : child.bits),
                           .bits = static_cast<std::uint16_t>(child.bits),
                           .to = child.node,
                           .sequence = to.sequence,
                           .row = to.row};
        }
    }

    std::vector<Prefix> m_prefixes{1};  ///< By node.
    std::vector<Edge> m_edges;
    std::size_t m_begin = root_row;  ///< Places before this are hardly ever free.
};

SequenceMatcher::SequenceMatcher(std::span<const Sequence> sequences)
    : m_edges{Builder{sequences}.edges()}
{}
}  // namespace mopvm::asm_x64
