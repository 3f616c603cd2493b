// SPDX-License-Identifier: MIT
/// @file
/// Branches, jumps, fences and the environment.
#pragma once

#include "semantics/operands.hpp"

#include <cstdint>

namespace mopvm::semantics::handlers
{
// Branches: whether rs1 and rs2 meet the condition.
[[nodiscard]] constexpr bool beq(std::uint64_t a, std::uint64_t b) noexcept
{
    return a == b;
}
[[nodiscard]] constexpr bool bne(std::uint64_t a, std::uint64_t b) noexcept
{
    return a != b;
}
[[nodiscard]] constexpr bool blt(std::uint64_t a, std::uint64_t b) noexcept
{
    return static_cast<std::int64_t>(a) < static_cast<std::int64_t>(b);
}
[[nodiscard]] constexpr bool bge(std::uint64_t a, std::uint64_t b) noexcept
{
    return static_cast<std::int64_t>(a) >= static_cast<std::int64_t>(b);
}
[[nodiscard]] constexpr bool bltu(std::uint64_t a, std::uint64_t b) noexcept
{
    return a < b;
}
[[nodiscard]] constexpr bool bgeu(std::uint64_t a, std::uint64_t b) noexcept
{
    return a >= b;
}

/// @p target with bit 0 cleared, as computed targets have it.
[[nodiscard]] constexpr std::uint64_t even(std::uint64_t target) noexcept
{
    return target & ~std::uint64_t{1};
}

[[nodiscard]] inline Outcome jal(State& state, const isa::Operation& operation) noexcept
{
    state.set(operation.rd, next_pc(state, operation));
    return jump_to(state, state.pc + immediate(operation));
}

[[nodiscard]] inline Outcome jalr(State& state, const isa::Operation& operation) noexcept
{
    const std::uint64_t target = even(effective_address(state, operation));
    state.set(operation.rd, next_pc(state, operation));
    return jump_to(state, target);
}

/// Version 0: the link is written before rs1 is read, so rd = rs1 jumps relative to the link.
[[nodiscard]] inline Outcome jalr_v0(State& state, const isa::Operation& operation) noexcept
{
    state.set(operation.rd, next_pc(state, operation));
    return jump_to(state, even(effective_address(state, operation)));
}

[[nodiscard]] inline Outcome fence(State& state, const isa::Operation& operation) noexcept
{
    return advance(state, operation);
}
inline constexpr auto fence_i = fence;

[[nodiscard]] inline Outcome ecall(State& state, const isa::Operation& operation) noexcept
{
    state.pc = next_pc(state, operation);
    return Outcome::ecall;
}

[[nodiscard]] inline Outcome ebreak(State& state, const isa::Operation& operation) noexcept
{
    state.pc = next_pc(state, operation);
    return Outcome::ebreak;
}
}  // namespace mopvm::semantics::handlers
