// SPDX-License-Identifier: MIT
/// @file
/// Products of 64-bit values in full width: 128 bits, with and without carries.
#pragma once

#include <bit>
#include <cstdint>

namespace mopvm::support
{
__extension__ using Int128 = __int128;
__extension__ using UInt128 = unsigned __int128;

/// Bits 127:64 of @p value.
[[nodiscard]] constexpr std::uint64_t high_half(UInt128 value) noexcept
{
    return static_cast<std::uint64_t>(value >> 64);
}

/// @p a times @p b, both signed.
[[nodiscard]] constexpr UInt128 product_signed(std::uint64_t a, std::uint64_t b) noexcept
{
    return static_cast<UInt128>(static_cast<Int128>(static_cast<std::int64_t>(a)) *
                                static_cast<std::int64_t>(b));
}

/// @p a times @p b, both unsigned.
[[nodiscard]] constexpr UInt128 product_unsigned(std::uint64_t a, std::uint64_t b) noexcept
{
    return static_cast<UInt128>(a) * b;
}

/// @p a, signed, times @p b, unsigned; it always fits 128 signed bits.
[[nodiscard]] constexpr UInt128 product_signed_unsigned(std::uint64_t a, std::uint64_t b) noexcept
{
    return static_cast<UInt128>(static_cast<Int128>(static_cast<std::int64_t>(a)) *
                                static_cast<Int128>(b));
}

/// The carry-less product of @p a and @p b: addition is exclusive or.
[[nodiscard]] constexpr UInt128 product_carryless(std::uint64_t a, std::uint64_t b) noexcept
{
    UInt128 product = 0;
    for (; b != 0; b &= b - 1)
        product ^= static_cast<UInt128>(a) << std::countr_zero(b);
    return product;
}
}  // namespace mopvm::support
