// SPDX-License-Identifier: MIT
// RV64I arithmetic against bit-by-bit references, on edge values and random ones.

#include "unit/semantics_fixture.hpp"

#include <limits>

namespace mopvm::semantics::test
{
namespace
{
constexpr std::uint64_t sign_bit = std::uint64_t{1} << 63;

std::uint64_t ripple_add(std::uint64_t a, std::uint64_t b)
{
    while (b != 0) {
        const std::uint64_t carries = a & b;
        a ^= b;
        b = carries << 1;
    }
    return a;
}

std::uint64_t ripple_subtract(std::uint64_t a, std::uint64_t b)
{
    return ripple_add(a, ripple_add(~b, 1));
}

std::uint64_t shift_left(std::uint64_t a, std::uint64_t amount)
{
    for (; amount > 0; --amount)
        a = ripple_add(a, a);
    return a;
}

std::uint64_t shift_right(std::uint64_t a, std::uint64_t amount)
{
    for (; amount > 0; --amount)
        a /= 2;
    return a;
}

std::uint64_t shift_right_signed(std::uint64_t a, std::uint64_t amount)
{
    for (; amount > 0; --amount)
        a = a / 2 + (a & sign_bit);
    return a;
}

std::uint64_t less_signed(std::uint64_t a, std::uint64_t b)
{
    return (a ^ sign_bit) < (b ^ sign_bit) ? 1 : 0;
}

std::uint64_t expected_add(std::uint64_t a, std::uint64_t b)
{
    return ripple_add(a, b);
}
std::uint64_t expected_and(std::uint64_t a, std::uint64_t b)
{
    return ~(~a | ~b);
}
std::uint64_t expected_or(std::uint64_t a, std::uint64_t b)
{
    return ~(~a & ~b);
}
std::uint64_t expected_xor(std::uint64_t a, std::uint64_t b)
{
    return (a | b) - (a & b);
}
std::uint64_t expected_sltu(std::uint64_t a, std::uint64_t b)
{
    return a < b ? 1 : 0;
}
std::uint64_t expected_sll(std::uint64_t a, std::uint64_t b)
{
    return shift_left(a, b % 64);
}
std::uint64_t expected_srl(std::uint64_t a, std::uint64_t b)
{
    return shift_right(a, b % 64);
}
std::uint64_t expected_sra(std::uint64_t a, std::uint64_t b)
{
    return shift_right_signed(a, b % 64);
}
std::uint64_t expected_addw(std::uint64_t a, std::uint64_t b)
{
    return signed_field(ripple_add(a, b), 32);
}
std::uint64_t expected_subw(std::uint64_t a, std::uint64_t b)
{
    return signed_field(ripple_subtract(a, b), 32);
}
std::uint64_t expected_sllw(std::uint64_t a, std::uint64_t b)
{
    return signed_field(shift_left(a, b % 32), 32);
}
std::uint64_t expected_srlw(std::uint64_t a, std::uint64_t b)
{
    return signed_field(shift_right(field(a, 0, 32), b % 32), 32);
}
std::uint64_t expected_sraw(std::uint64_t a, std::uint64_t b)
{
    return shift_right_signed(signed_field(a, 32), b % 32);
}

class SemanticsAluRegister : public ::testing::TestWithParam<Computation>
{};

TEST_P(SemanticsAluRegister, MatchesReference)
{
    check_register_form(GetParam());
}

INSTANTIATE_TEST_SUITE_P(Instructions,
                         SemanticsAluRegister,
                         ::testing::ValuesIn(std::to_array<Computation>({
                             {Opcode::add, expected_add},
                             {Opcode::sub, ripple_subtract},
                             {Opcode::sll, expected_sll},
                             {Opcode::slt, less_signed},
                             {Opcode::sltu, expected_sltu},
                             {Opcode::xor_, expected_xor},
                             {Opcode::srl, expected_srl},
                             {Opcode::sra, expected_sra},
                             {Opcode::or_, expected_or},
                             {Opcode::and_, expected_and},
                             {Opcode::addw, expected_addw},
                             {Opcode::subw, expected_subw},
                             {Opcode::sllw, expected_sllw},
                             {Opcode::srlw, expected_srlw},
                             {Opcode::sraw, expected_sraw},
                         })),
                         computation_name);

class SemanticsAluImmediate : public ::testing::TestWithParam<Computation>
{};

TEST_P(SemanticsAluImmediate, MatchesReferenceWithTheImmediateSignExtended)
{
    check_immediate_form(GetParam(), {-2048, -2047, -64, -2, -1, 0, 1, 2, 31, 63, 64, 2046, 2047});
}

INSTANTIATE_TEST_SUITE_P(Instructions,
                         SemanticsAluImmediate,
                         ::testing::ValuesIn(std::to_array<Computation>({
                             {Opcode::addi, expected_add},
                             {Opcode::slti, less_signed},
                             {Opcode::sltiu, expected_sltu},
                             {Opcode::xori, expected_xor},
                             {Opcode::ori, expected_or},
                             {Opcode::andi, expected_and},
                             {Opcode::addiw, expected_addw},
                         })),
                         computation_name);

class SemanticsAluShift : public ::testing::TestWithParam<Computation>
{};

TEST_P(SemanticsAluShift, MatchesReferenceForEveryAmount)
{
    const bool word = isa::traits(GetParam().opcode).format == isa::Format::shift5;
    check_immediate_form(GetParam(), numbers_below(word ? 32 : 64));
}

INSTANTIATE_TEST_SUITE_P(Instructions,
                         SemanticsAluShift,
                         ::testing::ValuesIn(std::to_array<Computation>({
                             {Opcode::slli, expected_sll},
                             {Opcode::srli, expected_srl},
                             {Opcode::srai, expected_sra},
                             {Opcode::slliw, expected_sllw},
                             {Opcode::srliw, expected_srlw},
                             {Opcode::sraiw, expected_sraw},
                         })),
                         computation_name);

TEST(SemanticsAlu, UpperImmediateIsSignExtended)
{
    Guest guest{0};
    guest.state.pc = 0x7'0000'1236;
    const auto run = [&](Opcode opcode, std::uint32_t imm) {
        guest.state.pc = 0x7'0000'1236;
        EXPECT_EQ(guest.run({.opcode = opcode,
                             .length = 4,
                             .parts = 1,
                             .rd = 5,
                             .imm = static_cast<std::int32_t>(imm)}),
                  Outcome::next);
        EXPECT_EQ(guest.state.pc, 0x7'0000'123au);
        return guest.state.x[5];
    };
    EXPECT_EQ(run(Opcode::lui, 0x7fff'f000), 0x7fff'f000u);
    EXPECT_EQ(run(Opcode::lui, 0x8000'0000), 0xffff'ffff'8000'0000u);
    EXPECT_EQ(run(Opcode::lui, 0), 0u);
    EXPECT_EQ(run(Opcode::auipc, 0x7fff'f000), 0x7'8000'0236u);
    EXPECT_EQ(run(Opcode::auipc, 0x8000'0000), 0x6'8000'1236u);
    EXPECT_EQ(run(Opcode::auipc, 0), 0x7'0000'1236u);
}

TEST(SemanticsAlu, AuipcWrapsModuloTwoToThe64)
{
    Guest guest{0};
    guest.state.pc = 0xffff'ffff'ffff'fffe;
    EXPECT_EQ(guest.run({.opcode = Opcode::auipc, .length = 4, .parts = 1, .rd = 5, .imm = 0x1000}),
              Outcome::next);
    EXPECT_EQ(guest.state.x[5], 0xffeu);
    EXPECT_EQ(guest.state.pc, 2u);
}

TEST(SemanticsAlu, LuiThenAddiIsNotWrappedTo32Bits)
{
    Guest guest{0};
    ASSERT_EQ(guest.run({.opcode = Opcode::lui,
                         .length = 4,
                         .parts = 1,
                         .rd = 5,
                         .imm = std::numeric_limits<std::int32_t>::min()}),
              Outcome::next);
    ASSERT_EQ(
        guest.run({.opcode = Opcode::addi, .length = 4, .parts = 1, .rd = 5, .rs1 = 5, .imm = -1}),
        Outcome::next);
    EXPECT_EQ(guest.state.x[5], 0xffff'ffff'7fff'ffffu);
}

TEST(SemanticsAlu, ComparisonsWithX0AndWideImmediates)
{
    using namespace handlers;
    constexpr auto minus = [](std::uint64_t n) { return 0 - n; };
    EXPECT_EQ(slti(0, 1), 1u);
    EXPECT_EQ(sltiu(0, 1), 1u);
    EXPECT_EQ(slti(0, minus(1)), 0u);
    EXPECT_EQ(sltiu(0, minus(1)), 1u);
    EXPECT_EQ(sltiu(0x1'0000'0000, minus(1)), 1u);
    EXPECT_EQ(sltiu(0xffff'ffff, minus(2048)), 1u);
    EXPECT_EQ(sltiu(minus(1), minus(1)), 0u);
}

TEST(SemanticsAlu, WordShiftsSeeTheLowWordOnly)
{
    EXPECT_EQ(handlers::sraiw(0x1'8000'0000, 31), 0xffff'ffff'ffff'ffffu);
    EXPECT_EQ(handlers::srliw(0x1'8000'0000, 31), 1u);
}
}  // namespace
}  // namespace mopvm::semantics::test
