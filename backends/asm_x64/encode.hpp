// SPDX-License-Identifier: MIT
/// @file
/// From operations to units. What takes one cell at most is looked up, by the opcode and by which
/// operands are 0: which operation comes next cannot be predicted, so that a branch for each kind
/// would cost more than all else. The rest is elaborate. Inline, as every operation of every block
/// passes here.
#pragma once

#include "asm_x64/cell.hpp"
#include "isa/packed.hpp"

#include <array>
#include <cstddef>
#include <cstdint>

namespace mopvm::asm_x64
{
/// How operations of an opcode are encoded.
enum class Way : std::uint8_t
{
    none,
    immediate,
    registers,
    load,
    store,
    add_immediate,
    add_word_immediate,
    zero_is_neutral,
    constant,
    constant_of_pc,
    branch,
    jump,
    jump_of_pair,
    jump_of_pair_absolute,
    indirect,
    leave,
    carryless,
    semantic,
    fused,
};

/// That of @p opcode.
constexpr Way way(isa::Opcode opcode) noexcept
{
    switch (opcode) {
    case isa::Opcode::addi:
        return Way::add_immediate;
    case isa::Opcode::addiw:
        return Way::add_word_immediate;
    case isa::Opcode::add:
    case isa::Opcode::or_:
    case isa::Opcode::xor_:
        return Way::zero_is_neutral;
    case isa::Opcode::lui:
    case isa::Opcode::load_const_lui:
        return Way::constant;
    case isa::Opcode::auipc:
    case isa::Opcode::load_const_auipc:
        return Way::constant_of_pc;
    case isa::Opcode::far_jump_rel:
        return Way::jump_of_pair;
    case isa::Opcode::far_jump_abs:
        return Way::jump_of_pair_absolute;
    case isa::Opcode::jalr_v0:
        return Way::indirect;
    default:
        break;
    }
    switch (shape(unit_of(opcode))) {
    case Shape::nothing:
        return Way::none;
    case Shape::leave:
        return Way::leave;
    case Shape::carryless:
        return Way::carryless;
    case Shape::semantic:
        return Way::semantic;
    default:
        break;
    }
    switch (isa::traits(opcode).format) {
    case isa::Format::branch:
        return Way::branch;
    case isa::Format::jump:
        return Way::jump;
    case isa::Format::indirect:
        return Way::indirect;
    case isa::Format::load:
        return Way::load;
    case isa::Format::store:
        return Way::store;
    case isa::Format::fused:
        return Way::fused;
    case isa::Format::reg:
    case isa::Format::unary:
        return Way::registers;
    default:
        return Way::immediate;
    }
}

/// What the cell of a unit holds.
enum class Form : std::uint8_t
{
    nothing,     ///< There is no unit.
    immediate,   ///< rd, rs1 and the immediate.
    discarding,  ///< The same, the result being discarded.
    registers,   ///< rd, rs1, rs2.
    moved,       ///< rd, and rs2 in the place of rs1, which is x0.
    store,       ///< rs2 in the place of rd, rs1 and the immediate.
    elaborate,   ///< More than this.
};

namespace detail
{
/// How a cell of one form is put together from the register fields of an operation, which lie one
/// behind the other as in a cell, and the immediate.
struct CellMasks
{
    std::uint32_t stays = 0;
    std::uint8_t down = 0;  ///< By how many bits rs2 comes down, if it does not stay.
    std::uint32_t comes_down = 0;
    std::uint32_t imm = 0;
    std::uint32_t fixed = 0;
    std::uint8_t result = 0;           ///< Its bits in rd,
    std::uint8_t no_result = discard;  ///< and what is there without one.
};

/// By form.
inline constexpr auto cell_masks = std::to_array<CellMasks>({
    {},
    {.stays = 0xffff, .imm = 0xffff0000, .result = 0xff, .no_result = 0},
    {.stays = 0xff00, .imm = 0xffff0000, .fixed = discard},
    {.stays = 0xffffff, .result = 0xff, .no_result = 0},
    {.stays = 0xff, .down = 8, .comes_down = 0xff00, .result = 0xff, .no_result = 0},
    {.stays = 0xff00, .down = 16, .comes_down = 0xff, .imm = 0xffff0000},
    {},
});
}  // namespace detail

/// How one operation is encoded.
struct Plan
{
    Unit unit = Unit::invalid;
    Form form = Form::elaborate;

    /// The cell that begins with @p handler, unless the form is `elaborate`.
    [[nodiscard]] Cell cell(const isa::Operation& operation, std::uint32_t handler) const noexcept
    {
        const detail::CellMasks& masks = detail::cell_masks[static_cast<std::size_t>(form)];
        const std::uint32_t registers = isa::registers(operation);
        const std::uint32_t operands =
            masks.fixed | (registers & masks.stays) | (registers >> masks.down & masks.comes_down) |
            (static_cast<std::uint32_t>(operation.imm) << 16 & masks.imm);
        return Cell::of(std::uint64_t{operands} << 32 | handler);
    }

    /// The register whose value the unit with @p cell leaves in a host register; `discard` if none.
    [[nodiscard]] std::uint8_t result(const Cell& cell) const noexcept
    {
        const detail::CellMasks& masks = detail::cell_masks[static_cast<std::size_t>(form)];
        return static_cast<std::uint8_t>((cell.rd & masks.result) | masks.no_result);
    }
};

namespace detail
{
/// Which operands of an operation are 0.
struct Zeros
{
    bool rd;
    bool rs1;
    bool rs2;
    bool imm;

    static constexpr std::size_t count = 16;
    [[nodiscard]] static constexpr Zeros of(std::size_t number) noexcept
    {
        return {.rd = (number & 1) == 0,
                .rs1 = (number & 2) == 0,
                .rs2 = (number & 4) == 0,
                .imm = (number & 8) == 0};
    }
    /// The number of those of @p operation: a bit for each that is not 0.
    [[nodiscard]] static constexpr std::size_t number(const isa::Operation& operation) noexcept
    {
        // A field below 128 reaches the highest bit of its byte if it is not 0. The product brings
        // the three bits together, from bit 16 on.
        constexpr std::uint32_t each = 0x01'01'01;
        const std::uint32_t others = (isa::registers(operation) + 0x7f * each) >> 7 & each;
        constexpr std::uint32_t together = 1U << 16 | 1U << 9 | 1U << 2;
        return (others * together >> 16 & 7) | std::size_t{operation.imm != 0} << 3;
    }
};

/// Constants, moves and comparisons have units of their own, and what has no effect has none.
constexpr Plan plan(isa::Opcode opcode, const Zeros& zero) noexcept
{
    constexpr Plan nothing{.unit = Unit::invalid, .form = Form::nothing};
    const Unit of = unit_of(opcode);
    switch (way(opcode)) {
    case Way::none:
        return nothing;
    case Way::immediate:
        return zero.rd ? nothing : Plan{of, Form::immediate};
    case Way::registers:
        return zero.rd ? nothing : Plan{of, Form::registers};
    case Way::load:
        return {of, zero.rd ? Form::discarding : Form::immediate};
    case Way::store:
        return {of, Form::store};
    case Way::add_immediate:
        if (zero.rd)
            return nothing;
        if (zero.rs1)
            return {Unit::small_constant, Form::immediate};
        return {zero.imm ? Unit::move : of, Form::immediate};
    case Way::add_word_immediate:
        return zero.rd ? nothing : Plan{zero.imm ? Unit::sext_w : of, Form::immediate};
    case Way::zero_is_neutral:
        if (zero.rd)
            return nothing;
        if (zero.rs1)
            return zero.rs2 ? Plan{Unit::small_constant, Form::registers}
                            : Plan{Unit::move, Form::moved};
        return {zero.rs2 ? Unit::move : of, Form::registers};
    case Way::constant:
    case Way::constant_of_pc:
    case Way::carryless:
        return zero.rd ? nothing : Plan{of, Form::elaborate};
    default:
        return {of, Form::elaborate};
    }
}

inline constexpr auto plans = [] {
    std::array<std::array<Plan, Zeros::count>, isa::opcode_count> table{};
    for (std::size_t i = 0; i < isa::opcode_count; ++i) {
        for (std::size_t zeros = 0; zeros < Zeros::count; ++zeros)
            table[i][zeros] = plan(static_cast<isa::Opcode>(i), Zeros::of(zeros));
    }
    return table;
}();
}  // namespace detail

/// How @p operation is encoded.
[[nodiscard]] inline Plan plan_of(const isa::Operation& operation) noexcept
{
    return detail::plans[isa::index(operation.opcode)][detail::Zeros::number(operation)];
}

/// Encodes @p operation at address @p pc, whose form is `elaborate`.
[[nodiscard]] Encoded encode_elaborate(const isa::Operation& operation, std::uint64_t pc) noexcept;
}  // namespace mopvm::asm_x64
