// SPDX-License-Identifier: MIT
// From operations to units: constants, moves and comparisons with zero have units of their own, and
// what has no effect has none.

#include "asm_x64/encode.hpp"

#include <array>
#include <utility>

namespace mopvm::asm_x64
{
namespace
{
using isa::Opcode;
using isa::Operation;

constexpr std::uint8_t target(std::uint8_t rd) noexcept
{
    return rd == isa::reg_zero ? discard : rd;
}

constexpr std::uint64_t immediate(const Operation& operation) noexcept
{
    return static_cast<std::uint64_t>(std::int64_t{operation.imm});
}

constexpr auto cell_counts = [] {
    std::array<std::uint8_t, unit_count> table{};
    for (std::size_t i = 0; i < unit_count; ++i)
        table[i] = static_cast<std::uint8_t>(cells(shape(static_cast<Unit>(i))));
    return table;
}();

Encoded unit(Unit unit, std::uint8_t result, Cell cell = {}) noexcept
{
    Encoded made;
    made.unit = unit;
    made.cell_count = cell_counts[index(unit)];
    made.result = result;
    made.cells[0] = cell;
    return made;
}

constexpr Cell operands(std::uint8_t rd,
                        std::uint8_t rs1,
                        std::uint8_t rs2 = 0,
                        std::uint8_t r3 = 0) noexcept
{
    return {.handler = 0, .rd = rd, .rs1 = rs1, .rs2 = rs2, .r3 = r3};
}

Encoded constant(std::uint8_t rd, std::uint64_t value) noexcept
{
    if (const auto small = static_cast<std::int16_t>(value);
        static_cast<std::uint64_t>(std::int64_t{small}) == value)
    {
        Encoded made = unit(Unit::small_constant, rd, operands(rd, 0));
        made.cells[0].set_immediate(small);
        return made;
    }
    Encoded made = unit(Unit::lui, rd, operands(rd, 0));
    made.cells[1] = Cell::of(value);
    return made;
}

Encoded with_immediate(Unit of, const Operation& operation) noexcept
{
    const std::uint8_t rd = target(operation.rd);
    Encoded made = unit(of, rd, operands(rd, operation.rs1));
    made.cells[0].set_immediate(static_cast<std::int16_t>(operation.imm));
    return made;
}

constexpr auto ways = [] {
    std::array<Way, isa::opcode_count> table{};
    for (std::size_t i = 0; i < isa::opcode_count; ++i)
        table[i] = way(static_cast<Opcode>(i));
    return table;
}();

Encoded branch(const Operation& operation, std::uint64_t pc) noexcept
{
    Unit of = unit_of(operation.opcode);
    std::uint8_t rs1 = operation.rs1;
    const std::uint8_t rs2 = operation.rs2;
    if (rs2 == isa::reg_zero) {
        switch (operation.opcode) {
        case Opcode::beq:
            of = Unit::beqz;
            break;
        case Opcode::bne:
            of = Unit::bnez;
            break;
        case Opcode::blt:
            of = Unit::bltz;
            break;
        case Opcode::bge:
            of = Unit::bgez;
            break;
        default:
            break;
        }
    } else if (rs1 == isa::reg_zero &&
               (operation.opcode == Opcode::beq || operation.opcode == Opcode::bne))
    {
        of = operation.opcode == Opcode::beq ? Unit::beqz : Unit::bnez;
        rs1 = rs2;
    }
    Encoded made = unit(of, discard, operands(0, rs1, rs2));
    made.target = pc + immediate(operation);
    return made;
}

/// Writes the address behind the operation to @p rd and goes to @p to, both fixed.
Encoded call(std::uint8_t rd, std::uint64_t behind, std::uint64_t to) noexcept
{
    if (rd == isa::reg_zero)
        return encode_go_on(to);
    Encoded made = unit(Unit::jal, discard, operands(rd, 0));
    made.cells[1] = Cell::of(behind);
    made.target = to;
    return made;
}

Encoded indirect(const Operation& operation, std::uint64_t behind) noexcept
{
    // Version 0 reads its own link here, a constant.
    if (operation.opcode == Opcode::jalr_v0 && operation.rd == operation.rs1 &&
        operation.rd != isa::reg_zero)
        return call(operation.rd, behind, (behind + immediate(operation)) & ~std::uint64_t{1});
    if (operation.rd == isa::reg_zero)
        return with_immediate(Unit::jump_indirect, operation);
    Encoded made = with_immediate(Unit::jalr, operation);
    made.result = discard;
    made.cells[1] = Cell::of(behind);
    return made;  // the inline cache is set up where its address is known
}

Encoded semantic(const Operation& operation) noexcept
{
    Encoded made = unit(unit_of(operation.opcode), discard);
    std::memcpy(&made.cells[1], &operation, sizeof(operation));
    return made;
}
static_assert(sizeof(Operation) == 2 * sizeof(Cell));

/// Fused operations that only write results, of which x0 discards; the others read and write the
/// same slots, and their code restores x0.
Encoded fused(const Operation& operation) noexcept
{
    const Unit of = unit_of(operation.opcode);
    Cell cell = operands(operation.rd, operation.rs1, operation.rs2, operation.r3);
    std::uint8_t result = discard;
    switch (shape(of)) {
    case Shape::wide_multiply:
    case Shape::wide_multiply_mixed:
    case Shape::wide_divide_signed:
    case Shape::wide_divide_unsigned:
    case Shape::sum_with_carry:
    case Shape::difference_with_borrow:
        cell.rd = target(operation.rd);
        cell.r3 = target(operation.r3);
        result = cell.r3;
        break;
    case Shape::add3:
        if (operation.opcode != Opcode::add3a)
            cell.rd = target(operation.rd);
        cell.r3 = target(operation.r3);
        break;
    default:
        break;
    }
    Encoded made = unit(of, result, cell);
    if (shape(of) == Shape::add3)
        made.cells[1] = Cell::of(operation.r4);
    return made;
}
}  // namespace

Encoded encode_go_on(std::uint64_t pc) noexcept
{
    Encoded made = unit(Unit::go_on, discard);
    made.target = pc;
    return made;
}

Encoded encode(const Operation& operation, std::uint64_t pc) noexcept
{
    const Plan plan = plan_of(operation);
    if (plan.form == Form::elaborate)
        return encode_elaborate(operation, pc);
    const Cell cell = plan.cell(operation, 0);
    Encoded made = unit(plan.unit, plan.result(cell), cell);
    made.target = 0;
    made.cell_count = plan.form == Form::nothing ? 0 : 1;
    return made;
}

Encoded encode_elaborate(const Operation& operation, std::uint64_t pc) noexcept
{
    const std::uint64_t behind = pc + operation.length;
    const std::uint8_t rd = target(operation.rd);
    switch (ways[isa::index(operation.opcode)]) {
    case Way::constant:
        return constant(rd, immediate(operation));
    case Way::constant_of_pc:
        return constant(rd, pc + immediate(operation));
    case Way::branch:
        return branch(operation, pc);
    case Way::jump:
        return call(operation.rd, behind, pc + immediate(operation));
    case Way::jump_of_pair:
        return call(isa::reg_ra, behind, (pc + immediate(operation)) & ~std::uint64_t{1});
    case Way::jump_of_pair_absolute:
        return call(isa::reg_ra, behind, immediate(operation) & ~std::uint64_t{1});
    case Way::indirect:
        return indirect(operation, behind);
    case Way::leave: {
        Encoded made = unit(unit_of(operation.opcode), discard);
        made.cells[1] = Cell::of(behind);
        return made;
    }
    case Way::carryless: {
        // With the registers, and for a host without the instruction with the operation.
        Encoded made = semantic(operation);
        made.cells[0] = operands(operation.rd, operation.rs1, operation.rs2);
        return made;
    }
    case Way::semantic:
        return semantic(operation);
    case Way::fused:
        return fused(operation);
    default:
        break;  // has no elaborate form
    }
    std::unreachable();
}
}  // namespace mopvm::asm_x64
