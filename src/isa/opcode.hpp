// SPDX-License-Identifier: MIT
/// @file
/// Operations and their fixed properties, generated from opcodes.inc.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace mopvm::isa
{
/// Internal operations: decoded instructions and what fusion makes of sequences of them.
enum class Opcode : std::uint8_t
{
    invalid,  ///< No operation: an empty slot or an undecodable instruction. Never executed.
#define MOPVM_INSTRUCTION(id, mnemonic, format, pattern, extension, cost, flow, versions) id,
#define MOPVM_FUSED(id, parts, cost, flow) id,
#include "isa/opcodes.inc"
};

/// Operands of an instruction and how they are written.
enum class Format : std::uint8_t
{
    none,       ///< no operands
    fence,      ///< predecessor and successor sets
    upper,      ///< rd, 20-bit immediate for bits 31:12
    jump,       ///< rd, pc-relative target
    indirect,   ///< rd, offset(rs1)
    branch,     ///< rs1, rs2, pc-relative target
    load,       ///< rd, offset(rs1)
    store,      ///< rs2, offset(rs1)
    immediate,  ///< rd, rs1, 12-bit immediate
    shift6,     ///< rd, rs1, shift amount 0 to 63
    shift5,     ///< rd, rs1, shift amount 0 to 31
    reg,        ///< rd, rs1, rs2
    unary,      ///< rd, rs1
    reserve,    ///< rd, (rs1)
    atomic,     ///< rd, rs2, (rs1)
    fused,      ///< up to five register slots and an immediate
};

/// The part of the instruction set that an instruction belongs to.
enum class Extension : std::uint8_t
{
    i,
    m,
    b,
    a,
    fused,
};

/// Classes of the standard cost model.
enum class CostClass : std::uint8_t
{
    alu,
    jump,
    access,
    double_access,
    multiply,
    divide,
    atomic_word,
    atomic_double,
    system,
};

/// Where control may go after an operation.
enum class Flow : std::uint8_t
{
    next,           ///< only to the following instruction
    branch,         ///< to the following instruction or a fixed target
    jump,           ///< to a fixed target
    jump_indirect,  ///< to a target from a register
    system,         ///< out of the backend, then to the following instruction
};

/// Versions of the machine in which an encoding has this meaning.
enum class Versions : std::uint8_t
{
    all,
    only_0,
    from_1,
};

/// What is fixed about an operation.
struct Traits
{
    std::string_view mnemonic;
    Format format = Format::none;
    Extension extension = Extension::i;
    CostClass cost = CostClass::alu;
    Flow flow = Flow::next;
    Versions versions = Versions::all;
    std::uint8_t parts = 1;  ///< Instructions that the operation stands for.
};

namespace detail
{
inline constexpr auto traits_table = std::to_array<Traits>({
    {.mnemonic = "invalid"},
#define MOPVM_INSTRUCTION(id, mnemonic, format, pattern, extension, cost, flow, versions) \
    {mnemonic,                                                                            \
     Format::format,                                                                      \
     Extension::extension,                                                                \
     CostClass::cost,                                                                     \
     Flow::flow,                                                                          \
     Versions::versions,                                                                  \
     1},
#define MOPVM_FUSED(id, parts, cost, flow) \
    {#id, Format::fused, Extension::fused, CostClass::cost, Flow::flow, Versions::from_1, parts},
#include "isa/opcodes.inc"
});
}  // namespace detail

/// Number of enumerators of Opcode, `invalid` included.
inline constexpr std::size_t opcode_count = detail::traits_table.size();

/// The number of @p opcode, as an index into tables.
[[nodiscard]] constexpr std::size_t index(Opcode opcode) noexcept
{
    return static_cast<std::size_t>(opcode);
}

/// The fixed properties of @p opcode.
[[nodiscard]] constexpr const Traits& traits(Opcode opcode) noexcept
{
    return detail::traits_table[index(opcode)];
}

/// True when @p opcode was made by fusion.
[[nodiscard]] constexpr bool is_fused(Opcode opcode) noexcept
{
    return traits(opcode).extension == Extension::fused;
}

namespace detail
{
/// Small, as every operation of every block is looked up here.
inline constexpr auto block_ends = [] {
    std::array<bool, opcode_count> table{};
    for (std::size_t i = 0; i < opcode_count; ++i)
        table[i] = traits(static_cast<Opcode>(i)).flow != Flow::next;
    return table;
}();
}  // namespace detail

/// True when the operation after @p opcode need not be the next in memory: the end of a block.
[[nodiscard]] constexpr bool ends_block(Opcode opcode) noexcept
{
    return detail::block_ends[index(opcode)];
}
}  // namespace mopvm::isa
