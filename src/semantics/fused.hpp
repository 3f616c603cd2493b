// SPDX-License-Identifier: MIT
/// @file
/// Fused operations: all sources are read first; the writes follow in the order that docs/fusion.md
/// gives, since slots may name the same register and x0 discards.
///
/// The slots r0 to r4 are in the fields rd, rs1, rs2, r3 and r4.
#pragma once

#include "semantics/control.hpp"
#include "semantics/muldiv.hpp"
#include "semantics/operands.hpp"
#include "support/wide_product.hpp"

#include <cstdint>

namespace mopvm::semantics::handlers
{
/// A sum and its carry out.
struct Sum
{
    std::uint64_t value;
    std::uint64_t carry;
};
[[nodiscard]] constexpr Sum sum(std::uint64_t a, std::uint64_t b) noexcept
{
    const std::uint64_t value = a + b;
    return {value, value < b ? std::uint64_t{1} : std::uint64_t{0}};
}

/// A difference and its borrow out.
struct Difference
{
    std::uint64_t value;
    std::uint64_t borrow;
};
[[nodiscard]] constexpr Difference difference(std::uint64_t a, std::uint64_t b) noexcept
{
    return {a - b, a < b ? std::uint64_t{1} : std::uint64_t{0}};
}

[[nodiscard]] inline Outcome adc(State& state, const isa::Operation& operation) noexcept
{
    const Sum first = sum(state.x[operation.rd], state.x[operation.rs1]);
    const Sum second = sum(first.value, state.x[operation.rs2]);
    state.set(operation.rd, second.value);
    state.set(operation.rs1, first.carry | second.carry);
    state.set(operation.rs2, second.carry);
    return advance(state, operation);
}

/// The first borrow is that of r1 - r0, whatever register the sequence compared with.
[[nodiscard]] inline Outcome sbb(State& state, const isa::Operation& operation) noexcept
{
    const Difference first = difference(state.x[operation.rs1], state.x[operation.rd]);
    const Difference second = difference(first.value, state.x[operation.r3]);
    state.set(operation.rs1, second.value);
    state.set(operation.rs2, first.borrow);
    state.set(operation.r3, second.borrow);
    state.set(operation.rd, first.borrow | second.borrow);
    return advance(state, operation);
}

/// r0 = the high half, r3 = the low half of the product of r1 and r2.
template <support::UInt128 product(std::uint64_t, std::uint64_t) noexcept>
[[nodiscard]] Outcome wide_multiply(State& state, const isa::Operation& operation) noexcept
{
    const support::UInt128 result = product(state.x[operation.rs1], state.x[operation.rs2]);
    state.set(operation.rd, support::high_half(result));
    state.set(operation.r3, static_cast<std::uint64_t>(result));
    return advance(state, operation);
}
inline constexpr auto wide_mul = wide_multiply<support::product_signed>;
inline constexpr auto wide_mulu = wide_multiply<support::product_unsigned>;
inline constexpr auto wide_mulsu = wide_multiply<support::product_signed_unsigned>;

/// r0 = the quotient, r3 = the remainder of r1 by r2.
template <std::uint64_t quotient(std::uint64_t, std::uint64_t) noexcept,
          std::uint64_t remainder(std::uint64_t, std::uint64_t) noexcept>
[[nodiscard]] Outcome wide_divide(State& state, const isa::Operation& operation) noexcept
{
    const std::uint64_t dividend = state.x[operation.rs1];
    const std::uint64_t divisor = state.x[operation.rs2];
    state.set(operation.rd, quotient(dividend, divisor));
    state.set(operation.r3, remainder(dividend, divisor));
    return advance(state, operation);
}
inline constexpr auto wide_div = wide_divide<div, rem>;
inline constexpr auto wide_divu = wide_divide<divu, remu>;

[[nodiscard]] inline Outcome far_jump_rel(State& state, const isa::Operation& operation) noexcept
{
    state.set(isa::reg_ra, next_pc(state, operation));
    return jump_to(state, even(state.pc + immediate(operation)));
}

[[nodiscard]] inline Outcome far_jump_abs(State& state, const isa::Operation& operation) noexcept
{
    state.set(isa::reg_ra, next_pc(state, operation));
    return jump_to(state, even(immediate(operation)));
}

[[nodiscard]] inline Outcome load_const_lui(State& state, const isa::Operation& operation) noexcept
{
    return finish(state, operation, immediate(operation));
}

[[nodiscard]] inline Outcome load_const_auipc(State& state,
                                              const isa::Operation& operation) noexcept
{
    return finish(state, operation, state.pc + immediate(operation));
}

[[nodiscard]] inline Outcome adcs(State& state, const isa::Operation& operation) noexcept
{
    const Sum result = sum(state.x[operation.rs1], state.x[operation.rs2]);
    state.set(operation.rd, result.value);
    state.set(operation.r3, result.carry);
    return advance(state, operation);
}

[[nodiscard]] inline Outcome sbbs(State& state, const isa::Operation& operation) noexcept
{
    const Difference result = difference(state.x[operation.rs1], state.x[operation.rs2]);
    state.set(operation.rd, result.value);
    state.set(operation.r3, result.borrow);
    return advance(state, operation);
}

[[nodiscard]] inline Outcome add3a(State& state, const isa::Operation& operation) noexcept
{
    const Sum first = sum(state.x[operation.rd], state.x[operation.rs1]);
    const std::uint64_t second = first.carry + state.x[operation.r4];
    state.set(operation.rd, first.value);
    state.set(operation.rs2, first.carry);
    state.set(operation.r3, second);
    return advance(state, operation);
}

[[nodiscard]] inline Outcome add3b(State& state, const isa::Operation& operation) noexcept
{
    const Sum first = sum(state.x[operation.rs1], state.x[operation.rs2]);
    const std::uint64_t second = first.carry + state.x[operation.r4];
    state.set(operation.rd, first.value);
    state.set(operation.rs1, first.carry);
    state.set(operation.r3, second);
    return advance(state, operation);
}

[[nodiscard]] inline Outcome add3c(State& state, const isa::Operation& operation) noexcept
{
    const Sum first = sum(state.x[operation.rs1], state.x[operation.rs2]);
    const std::uint64_t second = first.carry + state.x[operation.r4];
    state.set(operation.rd, first.value);
    state.set(operation.r3, second);
    return advance(state, operation);
}
}  // namespace mopvm::semantics::handlers
