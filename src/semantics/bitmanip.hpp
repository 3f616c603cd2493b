// SPDX-License-Identifier: MIT
/// @file
/// B: address generation, basic, carry-less and single-bit operations: values in, result out.
#pragma once

#include "support/bits.hpp"
#include "support/wide_product.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>

namespace mopvm::semantics::handlers
{
// Zba
[[nodiscard]] constexpr std::uint64_t add_uw(std::uint64_t a, std::uint64_t b) noexcept
{
    return support::zero_extend<std::uint32_t>(a) + b;
}
[[nodiscard]] constexpr std::uint64_t sh1add(std::uint64_t a, std::uint64_t b) noexcept
{
    return (a << 1) + b;
}
[[nodiscard]] constexpr std::uint64_t sh2add(std::uint64_t a, std::uint64_t b) noexcept
{
    return (a << 2) + b;
}
[[nodiscard]] constexpr std::uint64_t sh3add(std::uint64_t a, std::uint64_t b) noexcept
{
    return (a << 3) + b;
}
[[nodiscard]] constexpr std::uint64_t sh1add_uw(std::uint64_t a, std::uint64_t b) noexcept
{
    return sh1add(support::zero_extend<std::uint32_t>(a), b);
}
[[nodiscard]] constexpr std::uint64_t sh2add_uw(std::uint64_t a, std::uint64_t b) noexcept
{
    return sh2add(support::zero_extend<std::uint32_t>(a), b);
}
[[nodiscard]] constexpr std::uint64_t sh3add_uw(std::uint64_t a, std::uint64_t b) noexcept
{
    return sh3add(support::zero_extend<std::uint32_t>(a), b);
}
[[nodiscard]] constexpr std::uint64_t slli_uw(std::uint64_t a, std::uint64_t amount) noexcept
{
    return support::zero_extend<std::uint32_t>(a) << (amount & 63);
}

// Zbb
[[nodiscard]] constexpr std::uint64_t andn(std::uint64_t a, std::uint64_t b) noexcept
{
    return a & ~b;
}
[[nodiscard]] constexpr std::uint64_t orn(std::uint64_t a, std::uint64_t b) noexcept
{
    return a | ~b;
}
[[nodiscard]] constexpr std::uint64_t xnor(std::uint64_t a, std::uint64_t b) noexcept
{
    return ~(a ^ b);
}
[[nodiscard]] constexpr std::uint64_t min(std::uint64_t a, std::uint64_t b) noexcept
{
    return static_cast<std::uint64_t>(
        std::min(static_cast<std::int64_t>(a), static_cast<std::int64_t>(b)));
}
[[nodiscard]] constexpr std::uint64_t minu(std::uint64_t a, std::uint64_t b) noexcept
{
    return std::min(a, b);
}
[[nodiscard]] constexpr std::uint64_t max(std::uint64_t a, std::uint64_t b) noexcept
{
    return static_cast<std::uint64_t>(
        std::max(static_cast<std::int64_t>(a), static_cast<std::int64_t>(b)));
}
[[nodiscard]] constexpr std::uint64_t maxu(std::uint64_t a, std::uint64_t b) noexcept
{
    return std::max(a, b);
}
[[nodiscard]] constexpr std::uint64_t rol(std::uint64_t a, std::uint64_t b) noexcept
{
    return std::rotl(a, static_cast<int>(b & 63));
}
[[nodiscard]] constexpr std::uint64_t ror(std::uint64_t a, std::uint64_t b) noexcept
{
    return std::rotr(a, static_cast<int>(b & 63));
}
[[nodiscard]] constexpr std::uint64_t rolw(std::uint64_t a, std::uint64_t b) noexcept
{
    return support::sign_extend<std::int32_t>(
        std::rotl(static_cast<std::uint32_t>(a), static_cast<int>(b & 31)));
}
[[nodiscard]] constexpr std::uint64_t rorw(std::uint64_t a, std::uint64_t b) noexcept
{
    return support::sign_extend<std::int32_t>(
        std::rotr(static_cast<std::uint32_t>(a), static_cast<int>(b & 31)));
}
inline constexpr auto rori = ror;
inline constexpr auto roriw = rorw;
[[nodiscard]] constexpr std::uint64_t clz(std::uint64_t a) noexcept
{
    return static_cast<std::uint64_t>(std::countl_zero(a));
}
[[nodiscard]] constexpr std::uint64_t ctz(std::uint64_t a) noexcept
{
    return static_cast<std::uint64_t>(std::countr_zero(a));
}
[[nodiscard]] constexpr std::uint64_t cpop(std::uint64_t a) noexcept
{
    return static_cast<std::uint64_t>(std::popcount(a));
}
[[nodiscard]] constexpr std::uint64_t clzw(std::uint64_t a) noexcept
{
    return static_cast<std::uint64_t>(std::countl_zero(static_cast<std::uint32_t>(a)));
}
[[nodiscard]] constexpr std::uint64_t ctzw(std::uint64_t a) noexcept
{
    return static_cast<std::uint64_t>(std::countr_zero(static_cast<std::uint32_t>(a)));
}
[[nodiscard]] constexpr std::uint64_t cpopw(std::uint64_t a) noexcept
{
    return static_cast<std::uint64_t>(std::popcount(static_cast<std::uint32_t>(a)));
}
[[nodiscard]] constexpr std::uint64_t sext_b(std::uint64_t a) noexcept
{
    return support::sign_extend<std::int8_t>(a);
}
[[nodiscard]] constexpr std::uint64_t sext_h(std::uint64_t a) noexcept
{
    return support::sign_extend<std::int16_t>(a);
}
[[nodiscard]] constexpr std::uint64_t zext_h(std::uint64_t a) noexcept
{
    return support::zero_extend<std::uint16_t>(a);
}
[[nodiscard]] constexpr std::uint64_t orc_b(std::uint64_t a) noexcept
{
    return support::fill_nonzero_bytes(a);
}
[[nodiscard]] constexpr std::uint64_t rev8(std::uint64_t a) noexcept
{
    return std::byteswap(a);
}

// Zbc: bits 63:0, 126:63 and 127:64 of the carry-less product
[[nodiscard]] constexpr std::uint64_t clmul(std::uint64_t a, std::uint64_t b) noexcept
{
    return static_cast<std::uint64_t>(support::product_carryless(a, b));
}
[[nodiscard]] constexpr std::uint64_t clmulr(std::uint64_t a, std::uint64_t b) noexcept
{
    return static_cast<std::uint64_t>(support::product_carryless(a, b) >> 63);
}
[[nodiscard]] constexpr std::uint64_t clmulh(std::uint64_t a, std::uint64_t b) noexcept
{
    return support::high_half(support::product_carryless(a, b));
}

// Zbs
/// The single bit that Zbs operations index by the low six bits of @p b.
[[nodiscard]] constexpr std::uint64_t bit_at(std::uint64_t b) noexcept
{
    return std::uint64_t{1} << (b & 63);
}
[[nodiscard]] constexpr std::uint64_t bclr(std::uint64_t a, std::uint64_t b) noexcept
{
    return a & ~bit_at(b);
}
[[nodiscard]] constexpr std::uint64_t bext(std::uint64_t a, std::uint64_t b) noexcept
{
    return (a & bit_at(b)) != 0 ? 1 : 0;
}
[[nodiscard]] constexpr std::uint64_t binv(std::uint64_t a, std::uint64_t b) noexcept
{
    return a ^ bit_at(b);
}
[[nodiscard]] constexpr std::uint64_t bset(std::uint64_t a, std::uint64_t b) noexcept
{
    return a | bit_at(b);
}
inline constexpr auto bclri = bclr;
inline constexpr auto bexti = bext;
inline constexpr auto binvi = binv;
inline constexpr auto bseti = bset;
}  // namespace mopvm::semantics::handlers
