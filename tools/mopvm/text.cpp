// SPDX-License-Identifier: MIT
// Bytes and numbers as text.

#include "text.hpp"

#include <utf8.h>
#include <algorithm>
#include <array>
#include <charconv>
#include <cstdio>

namespace mopvm::tool
{
namespace
{
/// Bytes that a character of UTF-8 may be short of when it was cut off.
constexpr std::size_t longest_cut = 3;

[[nodiscard]] bool is_control(std::uint32_t character) noexcept
{
    return character < 0x20 || (character >= 0x7f && character < 0xa0);
}

void append_escaped(std::string& text, char byte)
{
    constexpr std::string_view digits = "0123456789abcdef";
    const auto value = static_cast<unsigned char>(byte);
    text += "\\x";
    text += digits[value >> 4];
    text += digits[value & 15];
}
}  // namespace

std::string hex(std::uint64_t value)
{
    std::array<char, 16> digits{};
    const auto [end, error] =
        std::to_chars(digits.data(), digits.data() + digits.size(), value, 16);
    return "0x" + std::string{digits.data(), end};
}

std::string fixed(double value, int decimals)
{
    // The largest double has 309 digits in front of the point.
    std::array<char, 330> digits{};
    (void)std::snprintf(digits.data(), digits.size(), "%.*f", decimals, value);
    return digits.data();
}

std::string printable(std::string_view bytes)
{
    std::string text;
    const auto* at = bytes.data();
    const auto* const end = at + bytes.size();
    while (at != end) {
        const auto* const valid_end = utf8::find_invalid(at, end);
        while (at != valid_end) {
            const auto* const start = at;
            if (!is_control(utf8::unchecked::next(at)))
                text.append(start, at);
            else
                std::for_each(start, at, [&](char byte) { append_escaped(text, byte); });
        }
        if (at != end)
            append_escaped(text, *at++);
    }
    return text;
}

bool is_utf8(std::string_view bytes) noexcept
{
    return utf8::is_valid(bytes.begin(), bytes.end());
}

std::size_t whole_characters(std::string_view bytes) noexcept
{
    const auto valid =
        static_cast<std::size_t>(utf8::find_invalid(bytes.begin(), bytes.end()) - bytes.begin());
    return bytes.size() - valid <= longest_cut ? valid : bytes.size();
}
}  // namespace mopvm::tool
