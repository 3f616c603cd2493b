// SPDX-License-Identifier: MIT
/// @file
/// M: multiplication and division: source values in, result out. Nothing traps.
#pragma once

#include "support/bits.hpp"
#include "support/wide_product.hpp"

#include <cstdint>
#include <limits>

namespace mopvm::semantics::handlers
{
/// The quotient of a division by zero, and the bits of -1.
inline constexpr std::uint64_t all_ones = std::numeric_limits<std::uint64_t>::max();

[[nodiscard]] constexpr std::uint64_t mul(std::uint64_t a, std::uint64_t b) noexcept
{
    return a * b;
}
[[nodiscard]] constexpr std::uint64_t mulh(std::uint64_t a, std::uint64_t b) noexcept
{
    return support::high_half(support::product_signed(a, b));
}
[[nodiscard]] constexpr std::uint64_t mulhsu(std::uint64_t a, std::uint64_t b) noexcept
{
    return support::high_half(support::product_signed_unsigned(a, b));
}
[[nodiscard]] constexpr std::uint64_t mulhu(std::uint64_t a, std::uint64_t b) noexcept
{
    return support::high_half(support::product_unsigned(a, b));
}

[[nodiscard]] constexpr std::uint64_t div(std::uint64_t a, std::uint64_t b) noexcept
{
    if (b == 0)
        return all_ones;
    if (b == all_ones)  // By -1: the smallest number has no opposite and stays itself.
        return 0 - a;
    return static_cast<std::uint64_t>(static_cast<std::int64_t>(a) / static_cast<std::int64_t>(b));
}
[[nodiscard]] constexpr std::uint64_t divu(std::uint64_t a, std::uint64_t b) noexcept
{
    return b == 0 ? all_ones : a / b;
}
[[nodiscard]] constexpr std::uint64_t rem(std::uint64_t a, std::uint64_t b) noexcept
{
    if (b == 0)
        return a;
    if (b == all_ones)
        return 0;
    return static_cast<std::uint64_t>(static_cast<std::int64_t>(a) % static_cast<std::int64_t>(b));
}
[[nodiscard]] constexpr std::uint64_t remu(std::uint64_t a, std::uint64_t b) noexcept
{
    return b == 0 ? a : a % b;
}

// W forms: extended sources divide as 64-bit ones, whose results for a divisor of 0 and for signed
// overflow have the right low 32 bits.
[[nodiscard]] constexpr std::uint64_t mulw(std::uint64_t a, std::uint64_t b) noexcept
{
    return support::sign_extend<std::int32_t>(a * b);
}
[[nodiscard]] constexpr std::uint64_t divw(std::uint64_t a, std::uint64_t b) noexcept
{
    return support::sign_extend<std::int32_t>(
        div(support::sign_extend<std::int32_t>(a), support::sign_extend<std::int32_t>(b)));
}
[[nodiscard]] constexpr std::uint64_t divuw(std::uint64_t a, std::uint64_t b) noexcept
{
    return support::sign_extend<std::int32_t>(
        divu(support::zero_extend<std::uint32_t>(a), support::zero_extend<std::uint32_t>(b)));
}
[[nodiscard]] constexpr std::uint64_t remw(std::uint64_t a, std::uint64_t b) noexcept
{
    return support::sign_extend<std::int32_t>(
        rem(support::sign_extend<std::int32_t>(a), support::sign_extend<std::int32_t>(b)));
}
[[nodiscard]] constexpr std::uint64_t remuw(std::uint64_t a, std::uint64_t b) noexcept
{
    return support::sign_extend<std::int32_t>(
        remu(support::zero_extend<std::uint32_t>(a), support::zero_extend<std::uint32_t>(b)));
}
}  // namespace mopvm::semantics::handlers
