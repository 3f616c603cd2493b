// SPDX-License-Identifier: MIT
/// @file
/// The contract of every engine in code: one operation after another, each fetched, decoded, fused,
/// charged, executed and counted.
#pragma once

#include "code/code_view.hpp"
#include "semantics/execute.hpp"
#include "semantics/state.hpp"

#include <mopvm/stats.hpp>

namespace mopvm::semantics
{
/// Adds @p cost to the cycles. On overflow, or above the limit, nothing is charged.
/// @return false with `State::fault` set when it does not fit.
[[nodiscard]] inline bool charge(State& state, std::uint64_t cost) noexcept
{
    const std::uint64_t cycles = state.cycles + cost;
    if (cycles < cost) [[unlikely]] {
        state.fault = {ErrorCode::cycles_overflow, 0};
        return false;
    }
    if (cycles > state.max_cycles) [[unlikely]] {
        state.fault = {ErrorCode::cycles_exceeded, 0};
        return false;
    }
    state.cycles = cycles;
    return true;
}

/// Counts one executed operation.
inline void count(Stats& stats, const isa::Operation& operation) noexcept
{
    ++stats.operations;
    stats.instructions += operation.parts;
    if (isa::is_fused(operation.opcode))
        ++stats.fused[isa::index(operation.opcode) - isa::index(isa::Opcode::adc)];
}

/// Charges and executes @p operation, which stands at `state.pc`; counts it in @p stats, if any,
/// unless it faults.
[[nodiscard]] inline Outcome perform(State& state,
                                     const isa::Operation& operation,
                                     Stats* stats) noexcept
{
    if (!charge(state, operation.cost)) [[unlikely]]
        return Outcome::fault;
    const Outcome outcome = execute(state, operation);
    if (stats != nullptr && outcome != Outcome::fault)
        count(*stats, operation);
    return outcome;
}

/// Executes the one operation at `state.pc`. An instruction that cannot be fetched or decoded is
/// reported before the limit is looked at, and charged nothing.
[[nodiscard]] inline Outcome step(State& state, code::CodeView& code, Stats* stats) noexcept
{
    const isa::Operation* operation = code.operation_at(state.pc, state.memory, state.fault);
    if (operation == nullptr)
        return Outcome::fault;
    return perform(state, *operation, stats);
}
}  // namespace mopvm::semantics
