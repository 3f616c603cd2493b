// SPDX-License-Identifier: MIT
/// @file
/// Superinstructions: sequences of units that have one handler for all of them, and finding them.
#pragma once

#include "asm_x64/unit.hpp"

#include <array>
#include <bit>
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

/// What a token says beside its unit, as bits: for each distance one, the lowest for the member
/// before.
using TokenBits = unsigned;

namespace token_bit
{
inline constexpr TokenBits first = 1;
inline constexpr TokenBits second = first << max_distance;
inline constexpr TokenBits over = second << max_distance;
inline constexpr TokenBits same_base = over << max_distance;

inline constexpr TokenBits all_first = second - first;
inline constexpr TokenBits all_second = over - second;
inline constexpr TokenBits all_over = same_base - over;

/// The bit for @p distance among those that begin with @p lowest; nothing for 0.
[[nodiscard]] constexpr TokenBits at(TokenBits lowest, std::uint8_t distance) noexcept
{
    return distance == 0 ? 0 : lowest << (distance - 1);
}

/// The distance whose bit, among those that begin with @p lowest, is @p found; 0 for none.
[[nodiscard]] constexpr std::uint8_t distance(TokenBits lowest, TokenBits found) noexcept
{
    return static_cast<std::uint8_t>(std::bit_width(found / lowest));
}
}  // namespace token_bit

/// What @p token says.
[[nodiscard]] constexpr TokenBits bits_of(const Token& token) noexcept
{
    const bool same_base = token.first == Token::same_base;
    return token_bit::at(token_bit::first, same_base ? 0 : token.first) |
           token_bit::at(token_bit::second, token.second) |
           token_bit::at(token_bit::over, token.over) | (same_base ? token_bit::same_base : 0);
}

/// The token of @p unit that says @p bits.
[[nodiscard]] constexpr Token token_of(Unit unit, TokenBits bits) noexcept
{
    const bool same_base = (bits & token_bit::same_base) != 0;
    return {.unit = unit,
            .first = same_base ? Token::same_base
                               : token_bit::distance(token_bit::first, bits & token_bit::all_first),
            .second = token_bit::distance(token_bit::second, bits & token_bit::all_second),
            .over = token_bit::distance(token_bit::over, bits & token_bit::all_over)};
}

/// Finds the longest sequence at a place, by a walk through the prefixes of all sequences.
class SequenceMatcher
{
public:
    /// A set of prefixes; 0 is that of the empty one.
    using Node = std::uint16_t;
    static constexpr std::uint16_t no_sequence = 0xffff;
    /// Sequences at most, so that 16 bits are enough for the number of any edge.
    static constexpr std::size_t max_sequences = 4'000;

    SequenceMatcher() : SequenceMatcher{{}} {}

    /// For @p sequences, at most `max_sequences`. @throws std::bad_alloc
    explicit SequenceMatcher(std::span<const Sequence> sequences);

    /// The longest sequence that some units begin with.
    struct Longest
    {
        std::uint16_t sequence = no_sequence;  ///< Its index.
        std::uint8_t length = 1;               ///< Its units; when there is none, the first alone.
    };

    /// A walk from the first unit of a possible sequence on.
    class Walk
    {
    public:
        explicit Walk(const SequenceMatcher& matcher) noexcept : m_matcher{matcher} {}

        /// Goes on with @p unit, of which @p bits are true. @return false when no sequence goes on
        /// so.
        ///
        /// A sequence that reads a source from memory, or stores a result that is soon replaced,
        /// also fits where that would not be needed. But once a source is read from memory that
        /// was computed in the sequence, what it computes must be stored: from there on only
        /// sequences fit whose results replace none.
        [[nodiscard]] bool advance(Unit unit, TokenBits bits) noexcept;
        [[nodiscard]] bool advance(const Token& token) noexcept
        {
            return advance(token.unit, bits_of(token));
        }

        /// That of the units so far.
        [[nodiscard]] const Longest& longest() const noexcept { return m_longest; }

    private:
        const SequenceMatcher& m_matcher;
        Node m_node = root;
        std::uint16_t m_row = root_row;
        Longest m_longest;
        /// Without `all_over` once what is computed must be stored.
        TokenBits m_usable = ~TokenBits{0};
    };

private:
    static constexpr Node root = 0;
    static constexpr Node nobody = 0xffff;
    static constexpr std::uint16_t root_row = 0;

    /// From one prefix to another: all that a step looks at, side by side. Fits where those of
    /// `looked_at` that are true are just `bits`.
    struct Edge
    {
        Node from = nobody;
        std::uint16_t looked_at = 0;
        std::uint16_t bits = 0;
        std::uint16_t next = 0;  ///< What to try after this; 0: nothing.
        Node to = root;
        std::uint16_t row = 0;  ///< Where the row of `to` begins.
        Longest longest;        ///< That of `to`.
    };
    static_assert(sizeof(Edge) == 16);
    class Builder;

    /// First the rows, an edge by the number of each unit, of all prefixes: they lie over each
    /// other so that no two edges fall together. Behind them, what `next` leads to.
    std::vector<Edge> m_edges;
};

// Which sequences there are among units cannot be predicted: few branches depend on it.
inline bool SequenceMatcher::Walk::advance(Unit unit, TokenBits bits) noexcept
{
    const Edge* edge = &m_matcher.m_edges[m_row + index(unit)];
    if (edge->from != m_node)
        return false;
    const TokenBits usable = bits & m_usable;
    while ((usable & edge->looked_at) != edge->bits) {
        if (edge->next == 0)
            return false;
        edge = &m_matcher.m_edges[edge->next];
    }
    m_node = edge->to;
    m_row = edge->row;
    m_longest = edge->longest;
    // Reading a base again does not depend on any result.
    const TokenBits from_memory =
        usable & ~TokenBits{edge->bits} & (token_bit::all_first | token_bit::all_second);
    m_usable &= ~(token_bit::all_over * TokenBits{from_memory != 0});
    return true;
}
}  // namespace mopvm::asm_x64
