// SPDX-License-Identifier: MIT
/// @file
/// Bytes and numbers as people and JSON readers are to see them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace mopvm::tool
{
/// @p value in lower-case hexadecimal with 0x before it.
[[nodiscard]] std::string hex(std::uint64_t value);

/// @p value in decimal with @p decimals digits behind the point.
[[nodiscard]] std::string fixed(double value, int decimals);

/// @p bytes with everything but printable ASCII and well-formed UTF-8 written as \xNN: a file name
/// or symbol cannot send control sequences to a terminal.
[[nodiscard]] std::string printable(std::string_view bytes);

/// True when @p bytes are well-formed UTF-8.
[[nodiscard]] bool is_utf8(std::string_view bytes) noexcept;

/// The length of the longest prefix of @p bytes that does not end in the middle of a character.
[[nodiscard]] std::size_t whole_characters(std::string_view bytes) noexcept;
}  // namespace mopvm::tool
