// SPDX-License-Identifier: MIT
/// @file
/// Fields of an encoding: register numbers by pattern letter, immediates by bit map.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace mopvm::isa
{
/// Where an encoding has a register number, or which register it implies.
struct RegisterField
{
    std::uint8_t shift = 0;
    std::uint8_t mask = 0;  ///< 0 when the register is implied.
    std::uint8_t base = 0;  ///< 8 for fields of three bits; the implied register's number.

    [[nodiscard]] constexpr std::uint8_t extract(std::uint32_t bits) const noexcept
    {
        return static_cast<std::uint8_t>(base + ((bits >> shift) & mask));
    }

    friend bool operator==(const RegisterField&, const RegisterField&) = default;
};

/// The bits of @p pattern (the notation of encoding.hpp) that one of @p letters names.
[[nodiscard]] constexpr std::uint32_t letter_bits(std::string_view pattern,
                                                  std::string_view letters) noexcept
{
    std::uint32_t bits = 0;
    for (const char c : pattern) {
        if (c != ' ')
            bits = bits << 1 | std::uint32_t{letters.contains(c)};
    }
    return bits;
}

/// The field that @p letter names in @p pattern: five bits, or three for x8 to x15. A pattern
/// without the letter gives x0; a field of another width does not compile.
[[nodiscard]] consteval RegisterField register_field(std::string_view pattern, char letter)
{
    std::uint32_t bits = letter_bits(pattern, {&letter, 1});
    if (bits == 0)
        return {};
    RegisterField field;
    for (; (bits & 1) == 0; bits >>= 1)
        ++field.shift;
    if (bits != 7 && bits != 31)
        throw "a register field is three or five bits in a row";
    field.mask = static_cast<std::uint8_t>(bits);
    field.base = bits == 7 ? 8 : 0;
    return field;
}

/// Which bits of an encoding make up an immediate.
class ImmediateMap
{
public:
    ImmediateMap() = default;

    /// Parses `"signed 12=5 6:2=4:0"`: bit 12 of the encoding is bit 5 of the immediate, bits 6 to
    /// 2 are bits 4 to 0. All others are 0; with `signed`, the highest bit that is named is the
    /// sign. Anything else does not compile.
    consteval explicit ImmediateMap(std::string_view map)
    {
        std::size_t at = 0;
        const auto skip = [&](std::string_view text) {
            const bool found = map.substr(at).starts_with(text);
            at += found ? text.size() : 0;
            return found;
        };
        const auto number = [&] {
            if (at == map.size() || map[at] < '0' || map[at] > '9')
                throw "a bit number is missing";
            unsigned value = 0;
            for (; at < map.size() && map[at] >= '0' && map[at] <= '9'; ++at)
                value = value * 10 + static_cast<unsigned>(map[at] - '0');
            if (value > 31)
                throw "bit numbers end at 31";
            return value;
        };
        struct Range
        {
            unsigned low;
            unsigned width;
        };
        const auto range = [&] {
            const unsigned high = number();
            const unsigned low = skip(":") ? number() : high;
            if (high < low)
                throw "a range is written from its high bit down";
            return Range{low, high - low + 1};
        };

        const bool is_signed = skip("signed ");
        std::uint32_t targets = 0;
        for (std::size_t count = 0; at < map.size(); ++count) {
            if (count == m_pieces.size())
                throw "too many pieces";
            if (count != 0 && !skip(" "))
                throw "pieces are separated by one space";
            const Range from = range();
            if (!skip("="))
                throw "a piece is written from=to";
            const Range to = range();
            if (from.width != to.width)
                throw "both sides of a piece are of one width";
            m_pieces[count] = {.mask = ~std::uint32_t{0} >> (32 - from.width),
                               .from = static_cast<std::uint8_t>(from.low),
                               .to = static_cast<std::uint8_t>(to.low)};
            if ((targets & m_pieces[count].mask << to.low) != 0)
                throw "a bit of the immediate is named twice";
            targets |= m_pieces[count].mask << to.low;
        }
        for (std::uint32_t bit = 1; is_signed && bit != 0; bit <<= 1)
            m_sign = (targets & bit) != 0 ? bit : m_sign;
    }

    /// The immediate in @p bits, sign-extended from the map's highest bit when it is signed.
    [[nodiscard]] constexpr std::int32_t extract(std::uint32_t bits) const noexcept
    {
        // Unused pieces have mask 0. Most maps have two pieces at most: a longer one costs a
        // branch, a loop over their number would cost a mispredicted one.
        std::uint32_t value = m_pieces[0].extract(bits) | m_pieces[1].extract(bits);
        for (std::size_t i = 2; i < m_pieces.size() && m_pieces[i].mask != 0; i += 2)
            value |= m_pieces[i].extract(bits) | m_pieces[i + 1].extract(bits);
        return static_cast<std::int32_t>((value ^ m_sign) - m_sign);
    }

    /// The bits of the encoding that the map reads.
    [[nodiscard]] constexpr std::uint32_t source_bits() const noexcept
    {
        std::uint32_t bits = 0;
        for (const Piece& piece : m_pieces)
            bits |= piece.mask << piece.from;
        return bits;
    }

    friend bool operator==(const ImmediateMap&, const ImmediateMap&) = default;

private:
    struct Piece
    {
        std::uint32_t mask = 0;  ///< As wide as the piece, from bit 0 on.
        std::uint8_t from = 0;
        std::uint8_t to = 0;

        [[nodiscard]] constexpr std::uint32_t extract(std::uint32_t bits) const noexcept
        {
            return (bits >> from & mask) << to;
        }

        friend bool operator==(const Piece&, const Piece&) = default;
    };

    std::array<Piece, 8> m_pieces{};
    std::uint32_t m_sign = 0;
};
}  // namespace mopvm::isa
