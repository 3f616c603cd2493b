// SPDX-License-Identifier: MIT
// From operations to units of emitted code: what is simplified, dropped and linked.

#include "unit/asm_x64_bench.hpp"

#include "asm_x64/cell.hpp"
#include "support/assembler.hpp"

#include <utility>

namespace mopvm::test
{
namespace
{
using asm_x64::Cell;
using asm_x64::discard;
using asm_x64::encode;
using asm_x64::Encoded;
using asm_x64::Shape;
using asm_x64::Unit;
using isa::Opcode;
using isa::Operation;

constexpr std::uint64_t behind = block_pc + 4;

Encoded encoded(Opcode opcode,
                std::uint8_t rd = 0,
                std::uint8_t rs1 = 0,
                std::uint8_t rs2 = 0,
                std::int32_t imm = 0)
{
    return encode(operation(opcode, rd, rs1, rs2, imm), block_pc);
}

std::int16_t immediate_of(const Cell& cell)
{
    std::int16_t immediate = 0;
    std::memcpy(&immediate, &cell.rs2, sizeof(immediate));
    return immediate;
}

/// The constant that @p made writes, if it is a unit that writes one.
std::optional<std::uint64_t> constant_of(const Encoded& made)
{
    if (made.unit == Unit::small_constant)
        return static_cast<std::uint64_t>(std::int64_t{immediate_of(made.cells[0])});
    if (made.unit == Unit::lui)
        return made.cells[1].payload();
    return std::nullopt;
}

template <typename Check>
void for_each_opcode(const Check& check)
{
    for (std::size_t i = 1; i < isa::opcode_count; ++i) {
        const auto opcode = static_cast<Opcode>(i);
        SCOPED_TRACE(isa::traits(opcode).mnemonic);
        check(opcode);
    }
}

TEST(AsmEncode, writes_as_many_cells_as_the_unit_takes)
{
    Choices choices{1};
    for_each_opcode([&](Opcode opcode) {
        for (int i = 0; i < 200; ++i) {
            const auto reg = [&] { return static_cast<std::uint8_t>(choices.below(32)); };
            Operation any = operation(opcode, reg(), reg(), reg(),
                                      choices.one_in(3) ? 0 : encodable_immediate(opcode, choices));
            any.r3 = reg();
            any.r4 = reg();
            const Encoded made = encode(any, block_pc);
            ASSERT_EQ(made.cell_count, made.unit == Unit::invalid ? 0 : cells(shape(made.unit)));
            ASSERT_LE(made.cell_count, Encoded::max_cells + asm_x64::link_cells);
            ASSERT_NE(made.result, isa::reg_zero);
            ASSERT_EQ(made.cells[0].handler, 0U) << "handlers are chosen later";
        }
    });
}

TEST(AsmEncode, keeps_what_has_no_simpler_form)
{
    for_each_opcode([](Opcode opcode) {
        const Unit unit = encoded(opcode, a0, a1, a2, 24).unit;
        switch (opcode) {
        case Opcode::fence:
        case Opcode::fence_i:
            EXPECT_EQ(unit, Unit::invalid);
            break;
        case Opcode::lui:
            EXPECT_EQ(unit, Unit::small_constant);
            break;
        case Opcode::auipc:
        case Opcode::load_const_auipc:
            EXPECT_EQ(unit, Unit::lui);
            break;
        case Opcode::load_const_lui:
            EXPECT_EQ(unit, Unit::small_constant);
            break;
        case Opcode::jalr_v0:
            EXPECT_EQ(unit, Unit::jalr);
            break;
        case Opcode::far_jump_rel:
        case Opcode::far_jump_abs:
            EXPECT_EQ(unit, Unit::jal);
            break;
        default:
            EXPECT_EQ(unit, asm_x64::unit_of(opcode));
            break;
        }
    });
}

TEST(AsmEncode, makes_constants_of_what_depends_on_no_register)
{
    EXPECT_EQ(constant_of(encoded(Opcode::addi, a0, zero, 0, -2048)), ~std::uint64_t{2047});
    EXPECT_EQ(constant_of(encoded(Opcode::lui, a0, 0, 0, 0x7ffff000)), 0x7ffff000U);
    EXPECT_EQ(constant_of(encoded(Opcode::lui, a0, 0, 0, std::int32_t(0x80000000))),
              0xffffffff80000000U);
    EXPECT_EQ(constant_of(encoded(Opcode::load_const_lui, a0, 0, 0, -1)), ~std::uint64_t{0});
    EXPECT_EQ(constant_of(encoded(Opcode::auipc, a0, 0, 0, 0x1000)), block_pc + 0x1000);
    EXPECT_EQ(constant_of(encoded(Opcode::load_const_auipc, a0, 0, 0, -16)), block_pc - 16);
    EXPECT_EQ(constant_of(encode(operation(Opcode::auipc, a0, 0, 0, -0x2000), 0x1000)),
              ~std::uint64_t{0xfff});
    EXPECT_EQ(constant_of(encoded(Opcode::addi, a0)), 0U);
}

TEST(AsmEncode, has_a_shorter_form_for_constants_of_sixteen_bits)
{
    for (const auto& [value, unit] : {std::pair{-32769, Unit::lui},
                                      {-32768, Unit::small_constant},
                                      {-1, Unit::small_constant},
                                      {0, Unit::small_constant},
                                      {32767, Unit::small_constant},
                                      {32768, Unit::lui}})
    {
        const Encoded made = encoded(Opcode::load_const_lui, a0, 0, 0, value);
        EXPECT_EQ(made.unit, unit) << value;
        EXPECT_EQ(constant_of(made), static_cast<std::uint64_t>(std::int64_t{value}));
        EXPECT_EQ(made.cells[0].rd, a0);
        EXPECT_EQ(made.result, a0);
    }
}

TEST(AsmEncode, makes_moves_of_what_changes_nothing)
{
    for (const Encoded& made :
         {encoded(Opcode::addi, a0, a1), encoded(Opcode::add, a0, a1, zero),
          encoded(Opcode::add, a0, zero, a1), encoded(Opcode::or_, a0, a1, zero),
          encoded(Opcode::or_, a0, zero, a1), encoded(Opcode::xor_, a0, a1, zero),
          encoded(Opcode::xor_, a0, zero, a1)})
    {
        EXPECT_EQ(made.unit, Unit::move);
        EXPECT_EQ(made.cells[0].rd, a0);
        EXPECT_EQ(made.cells[0].rs1, a1);
        EXPECT_EQ(made.result, a0);
    }
    // A move from x0 is a constant.
    EXPECT_EQ(constant_of(encoded(Opcode::add, a0, zero, zero)), 0U);
    EXPECT_EQ(constant_of(encoded(Opcode::xor_, a0, zero, zero)), 0U);
    // What looks alike and is not.
    EXPECT_EQ(encoded(Opcode::sub, a0, a1, zero).unit, Unit::sub);
    EXPECT_EQ(encoded(Opcode::sub, a0, zero, a1).unit, Unit::sub);
    EXPECT_EQ(encoded(Opcode::and_, a0, a1, zero).unit, Unit::and_);
    EXPECT_EQ(encoded(Opcode::addw, a0, a1, zero).unit, Unit::addw);
    EXPECT_EQ(encoded(Opcode::xori, a0, a1).unit, Unit::xori);
}

TEST(AsmEncode, makes_sext_w_of_addiw_with_zero)
{
    const Encoded made = encoded(Opcode::addiw, a0, a1);
    EXPECT_EQ(made.unit, Unit::sext_w);
    EXPECT_EQ(made.cells[0].rd, a0);
    EXPECT_EQ(made.cells[0].rs1, a1);
    EXPECT_EQ(encoded(Opcode::addiw, a0, a1, 0, 1).unit, Unit::addiw);
}

TEST(AsmEncode, knows_comparisons_with_zero)
{
    struct Case
    {
        Opcode opcode;
        Reg rs1;
        Reg rs2;
        Unit unit;
        Reg compared;
    };
    for (const Case& c : {Case{Opcode::beq, a1, zero, Unit::beqz, a1},
                          {Opcode::beq, zero, a1, Unit::beqz, a1},
                          {Opcode::bne, a1, zero, Unit::bnez, a1},
                          {Opcode::bne, zero, a1, Unit::bnez, a1},
                          {Opcode::beq, zero, zero, Unit::beqz, zero},
                          {Opcode::blt, a1, zero, Unit::bltz, a1},
                          {Opcode::bge, a1, zero, Unit::bgez, a1},
                          // Those of x0 with a register are others.
                          {Opcode::blt, zero, a1, Unit::blt, zero},
                          {Opcode::bge, zero, a1, Unit::bge, zero},
                          {Opcode::bltu, a1, zero, Unit::bltu, a1},
                          {Opcode::bgeu, a1, zero, Unit::bgeu, a1},
                          {Opcode::bltu, zero, a1, Unit::bltu, zero}})
    {
        const auto rs1 = static_cast<std::uint8_t>(c.rs1);
        const auto rs2 = static_cast<std::uint8_t>(c.rs2);
        const Encoded made = encoded(c.opcode, 0, rs1, rs2, -8);
        SCOPED_TRACE(isa::traits(c.opcode).mnemonic);
        EXPECT_EQ(made.unit, c.unit);
        EXPECT_EQ(made.cells[0].rs1, c.compared);
        if (shape(made.unit) == Shape::branch) {
            EXPECT_EQ(made.cells[0].rs2, c.rs2);
        }
        EXPECT_EQ(made.target, block_pc - 8);
        EXPECT_EQ(made.result, discard);
    }
}

TEST(AsmEncode, drops_what_only_writes_x0)
{
    for_each_opcode([](Opcode opcode) {
        const auto format = isa::traits(opcode).format;
        const bool computes = format == isa::Format::upper || format == isa::Format::immediate ||
                              format == isa::Format::shift6 || format == isa::Format::shift5 ||
                              format == isa::Format::reg || format == isa::Format::unary;
        // What the reference executes may be left to it.
        if (!computes || shape(asm_x64::unit_of(opcode)) == Shape::semantic)
            return;
        for (const std::int32_t imm : {0, 8}) {
            const Encoded made = encoded(opcode, zero, a1, a2, imm);
            EXPECT_EQ(made.unit, Unit::invalid);
            EXPECT_EQ(made.cell_count, 0);
            EXPECT_EQ(made.result, discard);
        }
    });
    for (const Opcode constant : {Opcode::load_const_lui, Opcode::load_const_auipc})
        EXPECT_EQ(encoded(constant, zero, 0, 0, 77).unit, Unit::invalid);
}

TEST(AsmEncode, lets_loads_to_x0_fault)
{
    for (const Opcode load :
         {Opcode::lb, Opcode::lh, Opcode::lw, Opcode::ld, Opcode::lbu, Opcode::lhu, Opcode::lwu})
    {
        const Encoded made = encoded(load, zero, a1, 0, 24);
        EXPECT_EQ(made.unit, asm_x64::unit_of(load));
        EXPECT_EQ(made.cells[0].rd, discard);
        EXPECT_EQ(made.cells[0].rs1, a1);
        EXPECT_EQ(made.result, discard);
    }
}

TEST(AsmEncode, discards_the_halves_of_fused_operations_that_x0_takes)
{
    for (const Opcode fused : {Opcode::wide_mul, Opcode::wide_mulu, Opcode::wide_mulsu,
                               Opcode::wide_div, Opcode::wide_divu, Opcode::adcs, Opcode::sbbs})
    {
        SCOPED_TRACE(isa::traits(fused).mnemonic);
        Operation both = operation(fused, a0, a1, a2);
        both.r3 = a3;
        EXPECT_EQ(encode(both, block_pc).cells[0].rd, a0);
        EXPECT_EQ(encode(both, block_pc).cells[0].r3, a3);
        EXPECT_EQ(encode(both, block_pc).result, a3);
        Operation first = both;
        first.rd = zero;
        EXPECT_EQ(encode(first, block_pc).cells[0].rd, discard);
        EXPECT_EQ(encode(first, block_pc).cells[0].r3, a3);
        Operation second = both;
        second.r3 = zero;
        EXPECT_EQ(encode(second, block_pc).cells[0].rd, a0);
        EXPECT_EQ(encode(second, block_pc).cells[0].r3, discard);
        EXPECT_EQ(encode(second, block_pc).result, discard);
    }
}

TEST(AsmEncode, links_jumps_and_calls)
{
    const Encoded jump = encoded(Opcode::jal, zero, 0, 0, 64);
    EXPECT_EQ(jump.unit, Unit::go_on);
    EXPECT_EQ(jump.target, block_pc + 64);

    const Encoded call = encoded(Opcode::jal, ra, 0, 0, -64);
    EXPECT_EQ(call.unit, Unit::jal);
    EXPECT_EQ(call.cells[0].rd, ra);
    EXPECT_EQ(call.cells[1].payload(), behind);
    EXPECT_EQ(call.target, block_pc - 64);

    const Encoded on = asm_x64::encode_go_on(behind);
    EXPECT_EQ(on.unit, Unit::go_on);
    EXPECT_EQ(on.target, behind);
}

TEST(AsmEncode, links_far_jumps_and_clears_their_lowest_bit)
{
    Operation far = operation(Opcode::far_jump_rel, ra, ra, 0, 0x12345);
    far.length = 8;
    const Encoded relative = encode(far, block_pc);
    EXPECT_EQ(relative.unit, Unit::jal);
    EXPECT_EQ(relative.cells[0].rd, ra);
    EXPECT_EQ(relative.cells[1].payload(), block_pc + 8);
    EXPECT_EQ(relative.target, block_pc + 0x12344);
    far.opcode = Opcode::far_jump_abs;
    EXPECT_EQ(encode(far, block_pc).target, 0x12344U);
    far.imm = -1;
    EXPECT_EQ(encode(far, block_pc).target, ~std::uint64_t{1});
}

TEST(AsmEncode, tells_computed_jumps_with_a_link_from_those_without)
{
    for (const Opcode opcode : {Opcode::jalr, Opcode::jalr_v0}) {
        const Encoded jump = encoded(opcode, zero, ra, 0, -2);
        EXPECT_EQ(jump.unit, Unit::jump_indirect);
        EXPECT_EQ(jump.cells[0].rs1, ra);
        EXPECT_EQ(immediate_of(jump.cells[0]), -2);
        EXPECT_EQ(encoded(opcode, zero, zero).unit, Unit::jump_indirect);

        const Encoded call = encoded(opcode, ra, a5, 0, 16);
        EXPECT_EQ(call.unit, Unit::jalr);
        EXPECT_EQ(call.cells[0].rd, ra);
        EXPECT_EQ(call.cells[0].rs1, a5);
        EXPECT_EQ(call.cells[1].payload(), behind);
        EXPECT_EQ(call.result, discard);
    }
}

TEST(AsmEncode, follows_a_call_that_reads_its_own_link_in_version_0)
{
    const Encoded made = encoded(Opcode::jalr_v0, ra, ra, 0, 33);
    EXPECT_EQ(made.unit, Unit::jal);
    EXPECT_EQ(made.cells[1].payload(), behind);
    EXPECT_EQ(made.target, behind + 32);
    // From version 1 on the old value is read.
    EXPECT_EQ(encoded(Opcode::jalr, ra, ra, 0, 33).unit, Unit::jalr);
}

TEST(AsmEncode, tells_where_to_go_on_after_a_system_call)
{
    for (const Opcode opcode : {Opcode::ecall, Opcode::ebreak}) {
        Operation leave = operation(opcode);
        EXPECT_EQ(encode(leave, block_pc).cells[1].payload(), block_pc + 4);
        leave.length = 2;
        EXPECT_EQ(encode(leave, block_pc).cells[1].payload(), block_pc + 2);
    }
}

TEST(AsmEncode, keeps_every_immediate)
{
    for (std::int32_t imm = -2048; imm < 2048; ++imm) {
        ASSERT_EQ(immediate_of(encoded(Opcode::ld, a0, a1, 0, imm).cells[0]), imm);
        ASSERT_EQ(immediate_of(encoded(Opcode::sd, 0, a1, a2, imm).cells[0]), imm);
        if (imm != 0) {
            ASSERT_EQ(immediate_of(encoded(Opcode::addi, a0, a1, 0, imm).cells[0]), imm);
        }
    }
}

TEST(AsmEncode, has_the_value_of_a_store_in_place_of_a_result)
{
    const Encoded made = encoded(Opcode::sd, 0, a1, a2, 8);
    EXPECT_EQ(made.cells[0].rd, a2);
    EXPECT_EQ(made.cells[0].rs1, a1);
    EXPECT_EQ(made.result, discard);
    // x0 is read there like any other, not discarded.
    EXPECT_EQ(encoded(Opcode::sd, 0, a1, zero, 8).cells[0].rd, zero);
}

TEST(AsmEncode, hands_whole_operations_to_the_reference)
{
    for (const Opcode opcode : {Opcode::amoadd_d, Opcode::sc_w, Opcode::lr_d, Opcode::orc_b}) {
        Operation wanted = operation(opcode, zero, a1, a2);
        wanted.cost = 7;
        const Encoded made = encode(wanted, block_pc);
        EXPECT_EQ(made.unit, asm_x64::unit_of(opcode));
        Operation kept;
        std::memcpy(static_cast<void*>(&kept), &made.cells[1], sizeof(kept));
        EXPECT_EQ(kept, wanted);
        EXPECT_EQ(made.result, discard);
    }
}

TEST(AsmEncode, has_both_the_registers_and_the_operation_of_a_carryless_product)
{
    for (const Opcode opcode : {Opcode::clmul, Opcode::clmulh, Opcode::clmulr}) {
        const Operation wanted = operation(opcode, a0, a1, a2);
        const Encoded made = encode(wanted, block_pc);
        EXPECT_EQ(made.unit, asm_x64::unit_of(opcode));
        EXPECT_EQ(made.cells[0].rd, a0);
        EXPECT_EQ(made.cells[0].rs1, a1);
        EXPECT_EQ(made.cells[0].rs2, a2);
        Operation kept;
        std::memcpy(static_cast<void*>(&kept), &made.cells[1], sizeof(kept));
        EXPECT_EQ(kept, wanted);
    }
}

TEST(AsmEncode, leaves_the_fifth_slot_of_add3_in_a_payload)
{
    for (const Opcode opcode : {Opcode::add3a, Opcode::add3b, Opcode::add3c}) {
        Operation add = operation(opcode, a0, a1, a2);
        add.r3 = a3;
        add.r4 = a4;
        const Encoded made = encode(add, block_pc);
        EXPECT_EQ(made.cells[0].r3, a3);
        EXPECT_EQ(made.cells[1].payload(), a4);
    }
}

}  // namespace
}  // namespace mopvm::test
