// SPDX-License-Identifier: MIT
/// @file
/// The two records that the pipeline passes on: a decoded instruction, and an operation to execute.
#pragma once

#include "isa/opcode.hpp"

#include <cstdint>

namespace mopvm::isa
{
/// One decoded instruction. A compressed instruction decodes to its expansion with length 2.
/// Fields that a format does not have are 0.
struct Instruction
{
    Opcode opcode = Opcode::invalid;
    std::uint8_t rd = 0;
    std::uint8_t rs1 = 0;
    std::uint8_t rs2 = 0;
    std::uint8_t length = 0;  ///< Bytes: 2 or 4.
    std::int32_t imm = 0;     ///< Sign-extended; `upper` formats hold imm20 << 12.

    friend bool operator==(const Instruction&, const Instruction&) = default;
};

/// One operation to execute: an instruction, or several that a fusion rule replaced.
/// A fused operation has its register slots r0 to r4 in rd, rs1, rs2, r3, r4, in this order.
struct Operation
{
    Opcode opcode = Opcode::invalid;
    std::uint8_t length = 0;  ///< Bytes of all parts together.
    std::uint8_t parts = 0;   ///< Instructions that it stands for.
    std::uint8_t rd = 0;
    std::uint8_t rs1 = 0;
    std::uint8_t rs2 = 0;
    std::uint8_t r3 = 0;
    std::uint8_t r4 = 0;
    std::int32_t imm = 0;
    std::uint32_t cost = 0;  ///< Cycles, from the configuration's cost model.

    friend bool operator==(const Operation&, const Operation&) = default;
};
static_assert(sizeof(Operation) == 16);

/// The operation that executes @p instruction alone; its cost is left 0.
[[nodiscard]] constexpr Operation to_operation(const Instruction& instruction) noexcept
{
    return {.opcode = instruction.opcode,
            .length = instruction.length,
            .parts = 1,
            .rd = instruction.rd,
            .rs1 = instruction.rs1,
            .rs2 = instruction.rs2,
            .imm = instruction.imm};
}
}  // namespace mopvm::isa
