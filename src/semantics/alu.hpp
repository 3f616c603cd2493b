// SPDX-License-Identifier: MIT
/// @file
/// RV64I arithmetic, logic, shifts and comparisons: source values in, result out.
///
/// The second operand is rs2 or the sign-extended immediate; shifts use its low bits only.
#pragma once

#include "support/bits.hpp"

#include <cstdint>

namespace mopvm::semantics::handlers
{
// Constants: the sources are pc and the immediate, which holds imm20 << 12 already.
[[nodiscard]] constexpr std::uint64_t lui(std::uint64_t /*pc*/, std::uint64_t imm) noexcept
{
    return imm;
}
[[nodiscard]] constexpr std::uint64_t auipc(std::uint64_t pc, std::uint64_t imm) noexcept
{
    return pc + imm;
}

[[nodiscard]] constexpr std::uint64_t add(std::uint64_t a, std::uint64_t b) noexcept
{
    return a + b;
}
[[nodiscard]] constexpr std::uint64_t sub(std::uint64_t a, std::uint64_t b) noexcept
{
    return a - b;
}
[[nodiscard]] constexpr std::uint64_t and_(std::uint64_t a, std::uint64_t b) noexcept
{
    return a & b;
}
[[nodiscard]] constexpr std::uint64_t or_(std::uint64_t a, std::uint64_t b) noexcept
{
    return a | b;
}
[[nodiscard]] constexpr std::uint64_t xor_(std::uint64_t a, std::uint64_t b) noexcept
{
    return a ^ b;
}
[[nodiscard]] constexpr std::uint64_t slt(std::uint64_t a, std::uint64_t b) noexcept
{
    return static_cast<std::int64_t>(a) < static_cast<std::int64_t>(b) ? 1 : 0;
}
[[nodiscard]] constexpr std::uint64_t sltu(std::uint64_t a, std::uint64_t b) noexcept
{
    return a < b ? 1 : 0;
}
[[nodiscard]] constexpr std::uint64_t sll(std::uint64_t a, std::uint64_t b) noexcept
{
    return a << (b & 63);
}
[[nodiscard]] constexpr std::uint64_t srl(std::uint64_t a, std::uint64_t b) noexcept
{
    return a >> (b & 63);
}
[[nodiscard]] constexpr std::uint64_t sra(std::uint64_t a, std::uint64_t b) noexcept
{
    return static_cast<std::uint64_t>(static_cast<std::int64_t>(a) >> (b & 63));
}

// W forms: the low 32 bits of the sources, the 32-bit result sign-extended.
[[nodiscard]] constexpr std::uint64_t addw(std::uint64_t a, std::uint64_t b) noexcept
{
    return support::sign_extend<std::int32_t>(a + b);
}
[[nodiscard]] constexpr std::uint64_t subw(std::uint64_t a, std::uint64_t b) noexcept
{
    return support::sign_extend<std::int32_t>(a - b);
}
[[nodiscard]] constexpr std::uint64_t sllw(std::uint64_t a, std::uint64_t b) noexcept
{
    return support::sign_extend<std::int32_t>(a << (b & 31));
}
[[nodiscard]] constexpr std::uint64_t srlw(std::uint64_t a, std::uint64_t b) noexcept
{
    return support::sign_extend<std::int32_t>(support::zero_extend<std::uint32_t>(a) >> (b & 31));
}
[[nodiscard]] constexpr std::uint64_t sraw(std::uint64_t a, std::uint64_t b) noexcept
{
    return sra(support::sign_extend<std::int32_t>(a), b & 31);
}

inline constexpr auto addi = add;
inline constexpr auto andi = and_;
inline constexpr auto ori = or_;
inline constexpr auto xori = xor_;
inline constexpr auto slti = slt;
inline constexpr auto sltiu = sltu;
inline constexpr auto slli = sll;
inline constexpr auto srli = srl;
inline constexpr auto srai = sra;
inline constexpr auto addiw = addw;
inline constexpr auto slliw = sllw;
inline constexpr auto srliw = srlw;
inline constexpr auto sraiw = sraw;
}  // namespace mopvm::semantics::handlers
