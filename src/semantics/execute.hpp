// SPDX-License-Identifier: MIT
/// @file
/// The meaning of every operation.
#pragma once

#include "isa/instruction.hpp"
#include "semantics/alu.hpp"
#include "semantics/atomics.hpp"
#include "semantics/bitmanip.hpp"
#include "semantics/control.hpp"
#include "semantics/fused.hpp"
#include "semantics/memory_access.hpp"
#include "semantics/muldiv.hpp"
#include "semantics/operands.hpp"
#include "semantics/state.hpp"

#include <cassert>
#include <utility>

namespace mopvm::semantics
{
/// Executes one operation of @p format. Where an operation only computes, its handler is given the
/// values of the sources and answers with the result; the others do all of it themselves.
template <isa::Format format, auto handler>
[[nodiscard]] inline Outcome execute_as(State& state, const isa::Operation& operation) noexcept
{
    using isa::Format;
    const std::uint64_t rs1 = state.x[operation.rs1];
    const std::uint64_t rs2 = state.x[operation.rs2];
    if constexpr (format == Format::reg)
        return finish(state, operation, handler(rs1, rs2));
    else if constexpr (format == Format::immediate || format == Format::shift6 ||
                       format == Format::shift5)
        return finish(state, operation, handler(rs1, immediate(operation)));
    else if constexpr (format == Format::unary)
        return finish(state, operation, handler(rs1));
    else if constexpr (format == Format::upper)
        return finish(state, operation, handler(state.pc, immediate(operation)));
    else if constexpr (format == Format::branch)
        return handler(rs1, rs2) ? jump_to(state, state.pc + immediate(operation))
                                 : advance(state, operation);
    else
        return handler(state, operation);
}

/// Executes @p operation at `state.pc`: all of its sources are read before anything is written (but
/// for `jalr_v0`). Cycles are the caller's business. The operation is not `invalid`.
[[nodiscard]] inline Outcome execute(State& state, const isa::Operation& operation) noexcept
{
    switch (operation.opcode) {
    case isa::Opcode::invalid:
        break;
#define MOPVM_INSTRUCTION(id, mnemonic, format, pattern, extension, cost, flow, versions) \
    case isa::Opcode::id:                                                                 \
        return execute_as<isa::Format::format, handlers::id>(state, operation);
#define MOPVM_FUSED(id, parts, cost, flow) \
    case isa::Opcode::id:                  \
        return execute_as<isa::Format::fused, handlers::id>(state, operation);
#include "isa/opcodes.inc"
    }
    assert(false && "an undecodable instruction cannot be executed");
    std::unreachable();
}
}  // namespace mopvm::semantics
