// SPDX-License-Identifier: MIT
/// @file
/// Encodings written as bit strings, turned into mask and match at compile time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace mopvm::isa
{
/// The fixed bits of an encoding of @p Word's width.
template <typename Word>
struct Encoding
{
    Word mask = 0;   ///< 1 where the bit is fixed.
    Word match = 0;  ///< The fixed bits' values.

    [[nodiscard]] constexpr bool accepts(Word bits) const noexcept
    {
        return static_cast<Word>(bits & mask) == match;
    }
};

/// True when some bits are accepted by both.
template <typename Word>
[[nodiscard]] constexpr bool overlap(const Encoding<Word>& x, const Encoding<Word>& y) noexcept
{
    return ((x.match ^ y.match) & x.mask & y.mask) == 0;
}

/// True when @p outer accepts all that both @p x and @p y accept; they must overlap.
template <typename Word>
[[nodiscard]] constexpr bool contains_common(const Encoding<Word>& outer,
                                             const Encoding<Word>& x,
                                             const Encoding<Word>& y) noexcept
{
    const auto mask = static_cast<Word>(x.mask | y.mask);
    const auto match = static_cast<Word>(x.match | y.match);
    return (outer.mask & ~mask) == 0 && outer.accepts(match);
}

/// Parses @p pattern, from the most significant bit down: 0 and 1 are fixed bits, spaces are
/// ignored, any other character is a free bit. A pattern of another width does not compile.
template <typename Word>
consteval Encoding<Word> parse_encoding(std::string_view pattern)
{
    Encoding<Word> encoding;
    std::size_t width = 0;
    for (const char c : pattern) {
        if (c == ' ')
            continue;
        encoding.mask = static_cast<Word>(encoding.mask << 1);
        encoding.match = static_cast<Word>(encoding.match << 1);
        if (c == '0' || c == '1') {
            encoding.mask |= 1;
            encoding.match |= static_cast<Word>(c - '0');
        }
        ++width;
    }
    if (width != sizeof(Word) * 8)
        throw "an encoding has as many characters as its word has bits";
    return encoding;
}
}  // namespace mopvm::isa
