// SPDX-License-Identifier: MIT
/// @file
/// How handlers read an operation's operands and how they finish it.
#pragma once

#include "isa/instruction.hpp"
#include "semantics/state.hpp"

#include <cstdint>

namespace mopvm::semantics
{
/// The immediate of @p operation, sign-extended.
[[nodiscard]] constexpr std::uint64_t immediate(const isa::Operation& operation) noexcept
{
    return static_cast<std::uint64_t>(operation.imm);
}

/// The address after @p operation, which stands at `state.pc`.
[[nodiscard]] inline std::uint64_t next_pc(const State& state,
                                           const isa::Operation& operation) noexcept
{
    return state.pc + operation.length;
}

/// The effective address of a load or store: rs1 plus the immediate, modulo 2^64.
[[nodiscard]] inline std::uint64_t effective_address(const State& state,
                                                     const isa::Operation& operation) noexcept
{
    return state.x[operation.rs1] + immediate(operation);
}

/// Goes on behind @p operation.
[[nodiscard]] inline Outcome advance(State& state, const isa::Operation& operation) noexcept
{
    state.pc = next_pc(state, operation);
    return Outcome::next;
}

/// Writes @p value to rd and goes on behind @p operation.
[[nodiscard]] inline Outcome finish(State& state,
                                    const isa::Operation& operation,
                                    std::uint64_t value) noexcept
{
    state.set(operation.rd, value);
    return advance(state, operation);
}

/// Goes on at @p target.
[[nodiscard]] inline Outcome jump_to(State& state, std::uint64_t target) noexcept
{
    state.pc = target;
    return Outcome::next;
}
}  // namespace mopvm::semantics
