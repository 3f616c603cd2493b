// SPDX-License-Identifier: MIT
/// @file
/// Pure functions on the bits of 64-bit values that the standard library does not have.
#pragma once

#include <concepts>
#include <cstdint>

namespace mopvm::support
{
/// The low bits of @p value, as many as T has, as a signed number in 64 bits.
template <std::signed_integral T>
[[nodiscard]] constexpr std::uint64_t sign_extend(std::uint64_t value) noexcept
{
    return static_cast<std::uint64_t>(static_cast<T>(value));
}

/// The low bits of @p value, as many as T has, as an unsigned number in 64 bits.
template <std::unsigned_integral T>
[[nodiscard]] constexpr std::uint64_t zero_extend(std::uint64_t value) noexcept
{
    return static_cast<T>(value);
}

/// @p value with 0xff in place of every byte that is not 0.
[[nodiscard]] constexpr std::uint64_t fill_nonzero_bytes(std::uint64_t value) noexcept
{
    constexpr std::uint64_t low_seven = 0x7f7f'7f7f'7f7f'7f7f;
    // The sum carries into a byte's top bit when any of its low seven bits is set, never further.
    const std::uint64_t nonzero = (((value & low_seven) + low_seven) | value) & ~low_seven;
    return (nonzero >> 7) * 0xff;
}
}  // namespace mopvm::support
