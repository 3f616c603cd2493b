// SPDX-License-Identifier: MIT
/// @file
/// Superinstructions: sequences of units that have one handler for all of them, and finding them.
#pragma once

#include "asm_x64/unit.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace mopvm::asm_x64
{
/// Two units or more. Only the last may go elsewhere.
struct Sequence
{
    std::array<Token, max_sequence_length> tokens{};
    std::uint8_t length = 0;

    [[nodiscard]] constexpr std::span<const Token> span() const noexcept
    {
        return std::span{tokens}.first(length);
    }
};

/// True when units of @p shape may be members of sequences.
[[nodiscard]] constexpr bool can_be_in_sequence(Shape shape) noexcept
{
    return shape != Shape::nothing && shape != Shape::carryless && shape != Shape::semantic &&
           shape != Shape::leave && shape != Shape::unresolved && shape != Shape::count;
}

/// The sequences of sequences.inc, which mopvm-train chose.
[[nodiscard]] std::span<const Sequence> chosen_sequences() noexcept;

/// Finds the longest sequence at a place, by a walk through the prefixes of all sequences.
class SequenceMatcher
{
public:
    /// A set of prefixes; 0 is that of the empty one.
    using Node = std::uint16_t;
    static constexpr std::uint16_t no_sequence = 0xffff;

    SequenceMatcher() = default;

    /// For @p sequences, at most 4,000. @throws std::bad_alloc
    explicit SequenceMatcher(std::span<const Sequence> sequences);

    /// A walk from the first unit of a possible sequence on.
    class Walk
    {
    public:
        explicit Walk(const SequenceMatcher& matcher) noexcept : m_matcher{matcher} {}

        /// Goes on with @p token. @return false when no sequence goes on so.
        ///
        /// A sequence that reads a source from memory, or stores a result that is soon replaced,
        /// also fits where that would not be needed. But once a source is read from memory that
        /// was computed in the sequence, what it computes must be stored: from there on only
        /// sequences fit whose results replace none.
        [[nodiscard]] bool advance(Token token) noexcept;

        /// The index of the sequence that the tokens so far are, or `no_sequence`.
        [[nodiscard]] std::uint16_t sequence() const noexcept
        {
            return m_matcher.m_sequences[m_node];
        }

    private:
        [[nodiscard]] bool take(Token token) noexcept;

        const SequenceMatcher& m_matcher;
        Node m_node = root;
        bool m_reads_memory = false;
    };

private:
    struct Edge
    {
        std::uint32_t key = 0;  ///< 0: free.
        Node to = root;
    };
    static constexpr Node root = 0;

    [[nodiscard]] static std::uint32_t key(Node from, Token token) noexcept
    {
        return std::uint32_t{from} << 16 | std::uint32_t{token.over} << 13 |
               std::uint32_t{token.second} << 11 | std::uint32_t{token.first} << 8 |
               static_cast<std::uint32_t>(token.unit);
    }
    [[nodiscard]] std::size_t slot(std::uint32_t key) const noexcept
    {
        return (key * 0x9e3779b1U) >> m_shift;
    }
    [[nodiscard]] Node edge(Node from, Token token) const noexcept
    {
        const std::uint32_t wanted = key(from, token);
        for (std::size_t i = slot(wanted);; i = (i + 1) & (m_edges.size() - 1)) {
            if (m_edges[i].key == wanted)
                return m_edges[i].to;
            if (m_edges[i].key == 0)
                return root;
        }
    }
    void insert(Node from, Token token, Node to);

    std::vector<Edge> m_edges{Edge{}, Edge{}};  ///< A power of two of them, at most half in use.
    unsigned m_shift = 31;
    std::array<Node, unit_count> m_first{};  ///< From the root, where no token has relations.
    std::vector<std::uint16_t> m_sequences{no_sequence};  ///< By node.
    /// By node: which units go on from there, as a bit for the lower six of a unit's number.
    std::vector<std::uint64_t> m_next_units{0};
};

inline bool SequenceMatcher::Walk::take(Token token) noexcept
{
    const Node next = m_matcher.edge(m_node, token);
    if (next == root)
        return false;
    m_node = next;
    return true;
}

inline bool SequenceMatcher::Walk::advance(Token token) noexcept
{
    if (m_node == root) {
        m_node = m_matcher.m_first[index(token.unit)];
        return m_node != root;
    }
    // Most walks end here.
    if ((m_matcher.m_next_units[m_node] >> (index(token.unit) % 64) & 1) == 0)
        return false;
    if (token.over != 0) {
        if (!m_reads_memory && take(token))
            return true;
        token.over = 0;
    }
    if (take(token))
        return true;
    if (token.first == 0 && token.second == 0)
        return false;
    const std::uint8_t first = token.first;
    if (first != 0 && token.second != 0) {
        token.first = 0;
        if (take(token))
            return m_reads_memory = true;
        token.first = first;
        token.second = 0;
        if (take(token))
            return m_reads_memory = true;
    }
    token.first = token.second = 0;
    // Reading a base again does not depend on any result.
    if (!take(token))
        return false;
    m_reads_memory |= first != Token::same_base;
    return true;
}
}  // namespace mopvm::asm_x64
