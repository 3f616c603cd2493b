// SPDX-License-Identifier: MIT
/// @file
/// Instructions on their way from bits to operations: in whole words, so that they pass through
/// registers of the host.
#pragma once

#include "isa/instruction.hpp"

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace mopvm::isa
{
/// The register fields of an instruction in one word.
[[nodiscard]] constexpr std::uint32_t pack(std::uint8_t rd,
                                           std::uint8_t rs1,
                                           std::uint8_t rs2) noexcept
{
    return std::uint32_t{rd} | std::uint32_t{rs1} << 8 | std::uint32_t{rs2} << 16;
}

/// One decoded instruction.
struct PackedInstruction
{
    /// All but the immediate, as an `Operation` begins.
    std::uint64_t word = 0;
    std::int32_t imm = 0;

    [[nodiscard]] constexpr Opcode opcode() const noexcept
    {
        return static_cast<Opcode>(word & 0xff);
    }
    /// Bytes: 2 or 4; 0 when it is invalid.
    [[nodiscard]] constexpr std::uint8_t length() const noexcept
    {
        return static_cast<std::uint8_t>(word >> 8);
    }
};

/// What `PackedInstruction::word` has beside registers.
[[nodiscard]] constexpr std::uint32_t pack(Opcode opcode, std::uint8_t length) noexcept
{
    constexpr std::uint32_t one_part = 1 << 16;
    return one_part | std::uint32_t{length} << 8 | static_cast<std::uint32_t>(opcode);
}

/// Both together, @p registers as `pack` gives them.
[[nodiscard]] constexpr std::uint64_t join(std::uint32_t opcode_and_length,
                                           std::uint32_t registers) noexcept
{
    return std::uint64_t{registers} << 24 | opcode_and_length;
}

/// The same instruction as a record of its fields.
[[nodiscard]] constexpr Instruction unpack(const PackedInstruction& packed) noexcept
{
    return {.opcode = packed.opcode(),
            .rd = static_cast<std::uint8_t>(packed.word >> 24),
            .rs1 = static_cast<std::uint8_t>(packed.word >> 32),
            .rs2 = static_cast<std::uint8_t>(packed.word >> 40),
            .length = packed.length(),
            .imm = packed.imm};
}

/// The register fields of @p operation as `pack` gives them, and r3 above.
[[nodiscard]] constexpr std::uint32_t registers(const Operation& operation) noexcept
{
    return pack(operation.rd, operation.rs1, operation.rs2) | std::uint32_t{operation.r3} << 24;
}

/// Makes @p operation the one that executes @p packed alone, for @p cost cycles.
inline void make_operation(Operation& operation,
                           const PackedInstruction& packed,
                           std::uint32_t cost) noexcept
{
    static_assert(std::endian::native == std::endian::little);
    static_assert(offsetof(Operation, opcode) == 0 && offsetof(Operation, length) == 1 &&
                  offsetof(Operation, parts) == 2 && offsetof(Operation, rd) == 3 &&
                  offsetof(Operation, rs1) == 4 && offsetof(Operation, rs2) == 5 &&
                  offsetof(Operation, imm) == 8 && offsetof(Operation, cost) == 12);
    const std::array<std::uint64_t, 2> words{
        packed.word, std::uint64_t{cost} << 32 | static_cast<std::uint32_t>(packed.imm)};
    static_assert(sizeof(words) == sizeof(operation));
    std::memcpy(static_cast<void*>(&operation), words.data(), sizeof(operation));
}
}  // namespace mopvm::isa
