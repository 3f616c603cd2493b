// SPDX-License-Identifier: MIT
// The table of superinstructions, and the walk through their prefixes.

#include "asm_x64/sequences.hpp"

#include <algorithm>
#include <cassert>
#include <limits>
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
static_assert(table.size() <= SequenceMatcher::max_sequences);
}  // namespace

std::span<const Sequence> chosen_sequences() noexcept
{
    return table;
}

/// Collects the prefixes, then lays out their rows. Every process that uses the engine does this,
/// before its first guest: so there are a few long lists, not many short ones.
class SequenceMatcher::Builder
{
public:
    explicit Builder(std::span<const Sequence> sequences)
    {
        assert(sequences.size() <= max_sequences);
        std::size_t tokens = 0;
        for (const Sequence& sequence : sequences)
            tokens += sequence.length;
        m_prefixes.reserve(1 + tokens);
        m_children.reserve(tokens);
        m_prefixes.emplace_back();
        for (std::size_t i = 0; i < sequences.size(); ++i) {
            Node node = root;
            for (const Token& token : sequences[i].span())
                node = follow(node, token);
            m_prefixes[node].longest = {.sequence = static_cast<std::uint16_t>(i),
                                        .length = sequences[i].length};
        }
    }

    std::vector<Edge> edges()
    {
        m_edges.reserve(2 * (m_prefixes.size() + unit_count));
        std::ranges::sort(m_children, {}, &Child::order);
        for (auto begin = m_children.begin(); begin != m_children.end();) {
            const auto end = std::ranges::find_if(begin, m_children.end(), [&](const Child& child) {
                return child.from != begin->from;
            });
            Prefix& prefix = m_prefixes[begin->from];
            prefix.children = {begin, end};
            prefix.row = place_for(prefix.children);
            for (const Child& child : prefix.children)
                m_edges[prefix.row + index(child.unit)].from = child.from;
            begin = end;
        }
        // Every unit can be looked up in every row.
        m_edges.resize(m_edges.size() + unit_count);
        inherit();
        for (const Prefix& prefix : m_prefixes)
            fill(prefix);
        assert(m_edges.size() <= std::numeric_limits<std::uint16_t>::max());
        return std::move(m_edges);
    }

private:
    static constexpr std::uint32_t none = 0xffff'ffff;

    struct Child
    {
        std::uint64_t order;  ///< By prefix, unit, and what is to be tried first.
        Unit unit;
        Node from;
        Node node;
        std::uint16_t bits;
        std::uint32_t sibling;  ///< Another of the same prefix; only while they are collected.
    };
    struct Prefix
    {
        std::uint32_t last_child = none;
        std::span<const Child> children;
        Longest longest;
        std::uint16_t row = 0;
    };

    Node follow(Node from, const Token& token)
    {
        const TokenBits bits = bits_of(token);
        Prefix& prefix = m_prefixes[from];
        for (std::uint32_t i = prefix.last_child; i != none; i = m_children[i].sibling) {
            if (m_children[i].unit == token.unit && m_children[i].bits == bits)
                return m_children[i].node;
        }
        const auto made = static_cast<Node>(m_prefixes.size());
        constexpr unsigned most_preferred = 7;
        m_children.push_back(
            {.order = std::uint64_t{from} << 32 | std::uint64_t{index(token.unit)} << 24 |
                      std::uint64_t{most_preferred - preference(bits)} << 16 | bits,
             .unit = token.unit,
             .from = from,
             .node = made,
             .bits = static_cast<std::uint16_t>(bits),
             .sibling = prefix.last_child});
        prefix.last_child = static_cast<std::uint32_t>(m_children.size() - 1);
        m_prefixes.emplace_back();
        return made;
    }

    /// Results that replace others first; then what takes both sources from host registers, the
    /// second alone, the first alone, none.
    static unsigned preference(TokenBits bits) noexcept
    {
        const bool over = (bits & token_bit::all_over) != 0;
        const bool second = (bits & token_bit::all_second) != 0;
        const bool first = (bits & (token_bit::all_first | token_bit::same_base)) != 0;
        return (over ? 4U : 0U) + (second ? 2U : 0U) + (first ? 1U : 0U);
    }

    /// A place for a row where the edges of the units of @p children are free.
    std::uint16_t place_for(std::span<const Child> children)
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
        return static_cast<std::uint16_t>(place);
    }

    /// What is no sequence begins with what its own beginning begins with. That has a lower number,
    /// so in the order of the children it is complete before it is looked at.
    void inherit()
    {
        for (const Child& child : m_children) {
            Longest& longest = m_prefixes[child.node].longest;
            if (longest.sequence == no_sequence)
                longest = m_prefixes[child.from].longest;
        }
    }

    /// Those of one unit one after the other: the first in the row, the others at the end.
    void fill(const Prefix& prefix)
    {
        const std::span<const Child> children = prefix.children;
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
                           .bits = child.bits,
                           .to = child.node,
                           .row = to.row,
                           .longest = to.longest};
        }
    }

    std::vector<Prefix> m_prefixes;  ///< By node.
    std::vector<Child> m_children;
    std::vector<Edge> m_edges;
    std::size_t m_begin = root_row;  ///< Places before this are hardly ever free.
};

SequenceMatcher::SequenceMatcher(std::span<const Sequence> sequences)
    : m_edges{Builder{sequences}.edges()}
{}
}  // namespace mopvm::asm_x64
