// SPDX-License-Identifier: MIT
// The table of superinstructions, and the walk through their prefixes.

#include "asm_x64/sequences.hpp"

#include <algorithm>
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

/// Collects the prefixes, then packs them.
class SequenceMatcher::Builder
{
public:
    explicit Builder(SequenceMatcher& matcher) : m_matcher{matcher} { add_node(); }

    void add(const Sequence& sequence, std::uint16_t number)
    {
        Node node = root;
        for (const Token& token : sequence.span())
            node = follow(node, token);
        m_matcher.m_nodes[node].sequence = number;
    }

    void pack()
    {
        for (std::size_t node = 0; node < m_children.size(); ++node)
            pack(static_cast<Node>(node));
        // Every unit of every prefix can be looked up.
        m_matcher.m_groups.resize(m_matcher.m_groups.size() + unit_count);
    }

private:
    struct Child
    {
        Unit unit;
        TokenBits bits;
        Node node;
    };

    Node add_node()
    {
        m_matcher.m_nodes.push_back({});
        m_children.emplace_back();
        return static_cast<Node>(m_children.size() - 1);
    }

    Node follow(Node from, const Token& token)
    {
        const TokenBits bits = bits_of(token);
        for (const Child& child : m_children[from]) {
            if (child.unit == token.unit && child.bits == bits)
                return child.node;
        }
        const Node made = add_node();
        m_children[from].push_back({.unit = token.unit, .bits = bits, .node = made});
        return made;
    }

    /// Results that replace others first, as the fewest walks go so; then what takes both sources
    /// from host registers, the second alone, the first alone, none.
    static int preference(TokenBits bits) noexcept
    {
        const bool over = (bits & token_bit::all_over) != 0;
        const bool second = (bits & token_bit::all_second) != 0;
        const bool first = (bits & (token_bit::all_first | token_bit::same_base)) != 0;
        return (over ? 4 : 0) + (second ? 2 : 0) + (first ? 1 : 0);
    }

    void pack(Node node)
    {
        std::vector<Child>& children = m_children[node];
        std::ranges::stable_sort(children, {}, [](const Child& child) {
            return std::pair{child.unit, -preference(child.bits)};
        });
        const std::uint32_t first_group = place_for(children);
        m_matcher.m_nodes[node].first_group = first_group;
        for (std::size_t i = 0; i < children.size(); ++i) {
            const Child& child = children[i];
            Group& group = m_matcher.m_groups[first_group + index(child.unit)];
            if (group.from != node)
                group = {.from = node,
                         .first_edge = static_cast<std::uint16_t>(m_matcher.m_edges.size())};
            // What leaves a result out must read all sources from where they are.
            const bool exact = (child.bits & token_bit::all_over) != 0;
            m_matcher.m_edges.push_back(
                {.looked_at = exact ? ~TokenBits{0} : child.bits,
                 .bits = child.bits,
                 .to = child.node,
                 .last = i + 1 == children.size() || children[i + 1].unit != child.unit});
        }
    }

    /// A place where groups for the units of @p children are free.
    std::uint32_t place_for(std::span<const Child> children)
    {
        std::vector<Group>& groups = m_matcher.m_groups;
        const auto is_free = [&](std::size_t place) {
            return std::ranges::all_of(children, [&](const Child& child) {
                const std::size_t at = place + index(child.unit);
                return at >= groups.size() || groups[at].from == Group::nobody;
            });
        };
        std::size_t place = m_begin;
        while (!is_free(place))
            ++place;
        m_begin += (place - m_begin) / 8;
        if (!children.empty())
            groups.resize(std::max(groups.size(), place + index(children.back().unit) + 1));
        return static_cast<std::uint32_t>(place);
    }

    SequenceMatcher& m_matcher;
    std::vector<std::vector<Child>> m_children;  ///< By node.
    std::size_t m_begin = 0;                     ///< Places before this are hardly ever free.
};

SequenceMatcher::SequenceMatcher(std::span<const Sequence> sequences)
{
    Builder builder{*this};
    for (std::size_t i = 0; i < sequences.size(); ++i)
        builder.add(sequences[i], static_cast<std::uint16_t>(i));
    builder.pack();
}
}  // namespace mopvm::asm_x64
