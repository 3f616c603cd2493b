// SPDX-License-Identifier: MIT
// What units of a block have to do with those before them: results that are still in host
// registers, results that are replaced, and bases of addresses.

#include "unit/asm_x64_bench.hpp"

#include "asm_x64/relations.hpp"
#include "support/assembler.hpp"

#include <initializer_list>

namespace mopvm::test
{
namespace
{
using asm_x64::Relation;
using asm_x64::RelationTracker;
using asm_x64::Token;
using asm_x64::Unit;
using isa::Opcode;
using isa::Operation;

/// The relation of the last of @p operations, all of which have an effect.
Relation::Distances last_of(std::initializer_list<Operation> operations)
{
    RelationTracker tracker;
    Relation::Distances distances;
    for (const Operation& each : operations) {
        const asm_x64::Encoded encoded = asm_x64::encode(each, block_pc);
        const Relation relation = tracker.next(encoded);
        EXPECT_EQ(relation.unit(), encoded.unit);
        distances = relation.distances();
    }
    return distances;
}

Operation fused(Opcode opcode, Reg r0, Reg r1, Reg r2, Reg r3)
{
    Operation made = operation(opcode, static_cast<std::uint8_t>(r0), static_cast<std::uint8_t>(r1),
                               static_cast<std::uint8_t>(r2));
    made.r3 = static_cast<std::uint8_t>(r3);
    return made;
}

const Operation makes_a0 = operation(Opcode::sub, a0, s2, s3);
const Operation makes_a1 = operation(Opcode::sub, a1, s2, s3);
const Operation unrelated = operation(Opcode::sub, s4, s2, s3);

TEST(AsmRelations, are_none_at_the_beginning)
{
    const Relation::Distances relation = last_of({operation(Opcode::ld, a0, a0)});
    EXPECT_EQ(relation.first, 0);
    EXPECT_EQ(relation.second, 0);
    EXPECT_EQ(relation.over, 0);
    EXPECT_EQ(relation.base, 0);
}

TEST(AsmRelations, tell_how_far_back_a_source_was_computed)
{
    for (const Opcode opcode :
         {Opcode::addi,   Opcode::slti,     Opcode::slli, Opcode::slli_uw, Opcode::bseti,
          Opcode::bexti,  Opcode::clz,      Opcode::ctzw, Opcode::cpop,    Opcode::sext_b,
          Opcode::zext_h, Opcode::rev8,     Opcode::lb,   Opcode::ld,      Opcode::jalr,
          Opcode::add,    Opcode::sub,      Opcode::sd,   Opcode::beq,     Opcode::mulhu,
          Opcode::div,    Opcode::wide_mul, Opcode::adcs})
    {
        SCOPED_TRACE(isa::traits(opcode).mnemonic);
        const Operation reads = operation(opcode, a5, a0, a1, 8);
        EXPECT_EQ(last_of({makes_a0, reads}).first, 1);
        EXPECT_EQ(last_of({makes_a0, unrelated, reads}).first, 2);
        EXPECT_EQ(last_of({makes_a0, unrelated, unrelated, reads}).first, 3);
        EXPECT_EQ(last_of({makes_a0, unrelated, unrelated, unrelated, reads}).first, 0);
        EXPECT_EQ(last_of({unrelated, reads}).first, 0);
    }
}

TEST(AsmRelations, tell_it_of_second_sources_too)
{
    for (const Opcode opcode :
         {Opcode::add,  Opcode::sub,    Opcode::andn,  Opcode::sll,       Opcode::sltu,
          Opcode::maxu, Opcode::sh2add, Opcode::bset,  Opcode::bext,      Opcode::mul,
          Opcode::mulh, Opcode::div,    Opcode::remuw, Opcode::wide_mulu, Opcode::wide_div,
          Opcode::adcs, Opcode::sbbs,   Opcode::blt,   Opcode::sb,        Opcode::sd})
    {
        SCOPED_TRACE(isa::traits(opcode).mnemonic);
        const Operation reads = operation(opcode, a5, a0, a1, 8);
        EXPECT_EQ(last_of({makes_a1, reads}).second, 1);
        EXPECT_EQ(last_of({makes_a1, unrelated, unrelated, reads}).second, 3);
        EXPECT_EQ(last_of({makes_a1, makes_a0, reads}).second, 2);
        EXPECT_EQ(last_of({makes_a1, makes_a0, reads}).first, 1);
    }
    // A small immediate is where others have rs2.
    EXPECT_EQ(last_of({makes_a0, operation(Opcode::addi, a5, s2, 0, a0)}).second, 0);
}

TEST(AsmRelations, follow_the_latest_result)
{
    const Operation reads = operation(Opcode::sltu, a5, a0, a1);
    EXPECT_EQ(last_of({makes_a0, unrelated, makes_a0, reads}).first, 1);
    // A store, a load to x0 and a branch compute nothing.
    EXPECT_EQ(last_of({makes_a0, operation(Opcode::sd, 0, sp, a0), reads}).first, 2);
    EXPECT_EQ(
        last_of({operation(Opcode::ld, zero, a0), operation(Opcode::addi, a0, zero, 0, 1), reads})
            .first,
        1);
    EXPECT_EQ(
        last_of({operation(Opcode::ld, zero, a0), operation(Opcode::sltu, a5, zero, a1)}).first, 0);
}

TEST(AsmRelations, know_the_second_result_of_two_alone)
{
    for (const Opcode opcode : {Opcode::wide_mul, Opcode::wide_mulu, Opcode::wide_div,
                                Opcode::wide_divu, Opcode::adcs, Opcode::sbbs})
    {
        SCOPED_TRACE(isa::traits(opcode).mnemonic);
        const Operation two = fused(opcode, a0, s2, s3, a1);
        EXPECT_EQ(last_of({two, operation(Opcode::sltu, a5, a0, a1)}).first, 0);
        EXPECT_EQ(last_of({two, operation(Opcode::sltu, a5, a0, a1)}).second, 1);
        // The first one is written to memory: what was known of it is old.
        EXPECT_EQ(last_of({makes_a0, two, operation(Opcode::sltu, a5, a0, s5)}).first, 0);
        EXPECT_EQ(last_of({makes_a0, fused(opcode, a0, s2, s3, zero),
                           operation(Opcode::sltu, a5, a0, s5)})
                      .first,
                  0);
    }
}

TEST(AsmRelations, tell_which_result_is_replaced)
{
    EXPECT_EQ(last_of({makes_a0, makes_a0}).over, 1);
    EXPECT_EQ(last_of({makes_a0, unrelated, unrelated, makes_a0}).over, 3);
    EXPECT_EQ(last_of({makes_a0, unrelated, unrelated, unrelated, makes_a0}).over, 0);
    EXPECT_EQ(last_of({makes_a0, operation(Opcode::addi, a0, a0, 0, 1)}).over, 1);
    EXPECT_EQ(last_of({makes_a0, operation(Opcode::ld, a0, a0)}).over, 1);
    EXPECT_EQ(last_of({makes_a0, operation(Opcode::sd, 0, s2, a0)}).over, 0);
    EXPECT_EQ(last_of({makes_a0, operation(Opcode::beq, 0, a0, zero, 8)}).over, 0);
    EXPECT_EQ(last_of({makes_a0, makes_a1}).over, 0);
    EXPECT_EQ(last_of({operation(Opcode::ld, zero, s2), operation(Opcode::ld, zero, s2)}).over, 0);
    EXPECT_EQ(last_of({makes_a0, fused(Opcode::wide_mulu, a1, s2, s3, a0)}).over, 0);
}

TEST(AsmRelations, tell_how_far_back_is_an_access_of_the_same_kind_with_the_same_base)
{
    const Operation load = operation(Opcode::ld, a0, s2, 0, 8);
    const Operation store = operation(Opcode::sd, 0, s2, a5, 16);
    EXPECT_EQ(last_of({load, load}).base, 1);
    EXPECT_EQ(last_of({store, store}).base, 1);
    EXPECT_EQ(last_of({load, operation(Opcode::lbu, a0, s2)}).base, 1);
    EXPECT_EQ(last_of({load, makes_a1, makes_a1, makes_a1, makes_a1, load}).base, 5);
    // Loads know of loads, stores of stores.
    EXPECT_EQ(last_of({load, store}).base, 0);
    EXPECT_EQ(last_of({store, load}).base, 0);
    EXPECT_EQ(last_of({load, store, load}).base, 2);
    EXPECT_EQ(last_of({store, load, store}).base, 2);
    // Another one in between has another base.
    EXPECT_EQ(last_of({load, operation(Opcode::ld, a1, s3), load}).base, 0);
    EXPECT_EQ(last_of({store, operation(Opcode::sb, 0, s3, a1), store}).base, 0);
    // Nobody may have written it, the access itself included.
    for (const Operation& access : {load, store}) {
        EXPECT_EQ(last_of({access, operation(Opcode::addi, s2, s2, 0, 8), access}).base, 0);
        EXPECT_EQ(last_of({access, fused(Opcode::adcs, s2, a1, a2, a3), access}).base, 0);
        EXPECT_EQ(last_of({access, fused(Opcode::adcs, a1, a2, a3, s2), access}).base, 0);
        EXPECT_EQ(last_of({access, fused(Opcode::adcs, s2, a1, a2, zero), access}).base, 0);
        EXPECT_EQ(last_of({access, makes_a1}).base, 0);
    }
    EXPECT_EQ(last_of({operation(Opcode::ld, s2, s2), load}).base, 0);
    EXPECT_EQ(last_of({store, operation(Opcode::ld, s2, a1), store}).base, 0);
}

TEST(AsmRelations, reach_as_far_back_as_a_sequence_is_long)
{
    const Operation load = operation(Opcode::ld, a0, s2, 0, 8);
    for (std::uint8_t between = 0; between < 12; ++between) {
        RelationTracker tracker;
        static_cast<void>(tracker.next(asm_x64::encode(load, block_pc)));
        for (std::uint8_t i = 0; i < between; ++i)
            static_cast<void>(tracker.next(asm_x64::encode(makes_a1, block_pc)));
        const Relation relation = tracker.next(asm_x64::encode(load, block_pc));
        const bool reaches = between + 1U < asm_x64::max_sequence_length;
        EXPECT_EQ(relation.distances().base, reaches ? between + 1 : 0);
        // Only a sequence that has both has the relation.
        for (std::uint8_t position = 0; position < asm_x64::max_sequence_length; ++position) {
            EXPECT_EQ(relation.token(position).first == Token::same_base,
                      reaches && position > between);
        }
    }
}

TEST(AsmRelations, end_where_units_use_the_host_registers_themselves)
{
    for (const Operation& between :
         {operation(Opcode::clmul, a5, s3, s4), operation(Opcode::amoadd_d, a5, s3, s4),
          operation(Opcode::lr_w, a5, s3), operation(Opcode::mulhsu, a5, s3, s4),
          fused(Opcode::adc, a5, a6, a7, s5), fused(Opcode::sbb, a5, a6, a7, s5),
          fused(Opcode::add3a, a5, a6, a7, s5), fused(Opcode::add3c, a5, a6, a7, s5),
          fused(Opcode::wide_mulsu, a5, a6, a7, s5)})
    {
        SCOPED_TRACE(isa::traits(between.opcode).mnemonic);
        EXPECT_EQ(last_of({makes_a0, between, operation(Opcode::sltu, a1, a0, s4)}).first, 0);
        EXPECT_EQ(last_of({makes_a0, between, makes_a0}).over, 0);
        const Operation load = operation(Opcode::ld, a1, s2);
        EXPECT_EQ(last_of({load, between, load}).base, 0);
    }
}

TEST(AsmRelations, become_tokens_as_far_as_their_sequence_reaches_back)
{
    const Relation relation{Unit::sd, {.first = 0, .second = 2, .over = 3, .base = 4}};
    EXPECT_EQ(relation.token(0), (Token{.unit = Unit::sd}));
    EXPECT_EQ(relation.token(1), (Token{.unit = Unit::sd}));
    EXPECT_EQ(relation.token(2), (Token{.unit = Unit::sd, .second = 2}));
    EXPECT_EQ(relation.token(3), (Token{.unit = Unit::sd, .second = 2, .over = 3}));
    EXPECT_EQ(relation.token(4),
              (Token{.unit = Unit::sd, .first = Token::same_base, .second = 2, .over = 3}));
    // A base that was computed in the sequence is taken from there.
    const Relation computed{Unit::ld, {.first = 1, .base = 2}};
    EXPECT_EQ(computed.token(2).first, 1);
}
}  // namespace
}  // namespace mopvm::test
