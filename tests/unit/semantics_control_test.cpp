// SPDX-License-Identifier: MIT
// Branches, jumps, fences and the environment.

#include "unit/semantics_fixture.hpp"

namespace mopvm::semantics::test
{
namespace
{
/// A branch and whether it should be taken.
using Branch = Computation;

bool negative(std::uint64_t value)
{
    return value >= std::uint64_t{1} << 63;
}

std::uint64_t when_equal(std::uint64_t a, std::uint64_t b)
{
    return (a ^ b) == 0 ? 1 : 0;
}
std::uint64_t when_different(std::uint64_t a, std::uint64_t b)
{
    return 1 - when_equal(a, b);
}
std::uint64_t when_less(std::uint64_t a, std::uint64_t b)
{
    return (negative(a) == negative(b) ? a < b : negative(a)) ? 1 : 0;
}
std::uint64_t when_not_less(std::uint64_t a, std::uint64_t b)
{
    return 1 - when_less(a, b);
}
std::uint64_t when_below(std::uint64_t a, std::uint64_t b)
{
    return a < b ? 1 : 0;
}
std::uint64_t when_not_below(std::uint64_t a, std::uint64_t b)
{
    return 1 - when_below(a, b);
}

class SemanticsBranch : public ::testing::TestWithParam<Branch>
{
protected:
    Guest guest{0};
};

TEST_P(SemanticsBranch, IsTakenAsTheConditionSays)
{
    for_value_pairs([&](std::uint64_t a, std::uint64_t b) {
        guest.state.x[6] = a;
        guest.state.x[7] = b;
        for (const std::int32_t imm : {-4096, -2, 0, 2, 4094}) {
            guest.state.pc = 0x8000;
            Snapshot expected = guest.snapshot();
            expected.pc += GetParam().expected(a, b) == 1 ? static_cast<std::uint64_t>(imm) : 2;
            ASSERT_EQ(
                guest.run(
                    {.opcode = GetParam().opcode, .length = 2, .rs1 = 6, .rs2 = 7, .imm = imm}),
                Outcome::next);
            ASSERT_TRUE(guest.snapshot() == expected)
                << std::hex << "0x" << a << " and 0x" << b << ", seed 0x" << seed;
        }
    });
}

TEST_P(SemanticsBranch, WithItselfAndWithX0)
{
    guest.state.x[6] = 0;
    for (const std::uint8_t rs2 : {std::uint8_t{6}, std::uint8_t{0}}) {
        guest.state.pc = 0;
        ASSERT_EQ(
            guest.run({.opcode = GetParam().opcode, .length = 4, .rs1 = 6, .rs2 = rs2, .imm = -2}),
            Outcome::next);
        EXPECT_EQ(guest.state.pc, GetParam().expected(0, 0) == 1 ? 0 - std::uint64_t{2} : 4);
    }
}

INSTANTIATE_TEST_SUITE_P(Instructions,
                         SemanticsBranch,
                         ::testing::ValuesIn(std::to_array<Branch>({
                             {Opcode::beq, when_equal},
                             {Opcode::bne, when_different},
                             {Opcode::blt, when_less},
                             {Opcode::bge, when_not_less},
                             {Opcode::bltu, when_below},
                             {Opcode::bgeu, when_not_below},
                         })),
                         computation_name);

class SemanticsJump : public ::testing::Test
{
protected:
    Guest guest{0};
};

TEST_F(SemanticsJump, JalLinksBehindItselfAndGoesToTheTarget)
{
    for (const std::uint8_t length : {std::uint8_t{2}, std::uint8_t{4}}) {
        for (const std::int32_t imm : {-0x10'0000, -2, 0, 2, 0xf'fffe}) {
            guest.state.pc = 0x1002;
            Snapshot expected = guest.snapshot();
            expected.x[5] = std::uint64_t{0x1002} + length;
            expected.pc = 0x1002 + static_cast<std::uint64_t>(imm);
            ASSERT_EQ(guest.run({.opcode = Opcode::jal, .length = length, .rd = 5, .imm = imm}),
                      Outcome::next);
            EXPECT_TRUE(guest.snapshot() == expected);
        }
    }
}

TEST_F(SemanticsJump, JalToX0DropsTheLink)
{
    ASSERT_EQ(guest.run({.opcode = Opcode::jal, .length = 2, .rd = 0, .imm = 16}), Outcome::next);
    EXPECT_EQ(guest.state.x[0], 0u);
    EXPECT_EQ(guest.state.pc, Guest::start + 16);
}

TEST_F(SemanticsJump, LinkWrapsModuloTwoToThe64)
{
    guest.state.pc = 0xffff'ffff'ffff'fffe;
    ASSERT_EQ(guest.run({.opcode = Opcode::jal, .length = 4, .rd = 5, .imm = 8}), Outcome::next);
    EXPECT_EQ(guest.state.x[5], 2u);
    EXPECT_EQ(guest.state.pc, 6u);
}

TEST_F(SemanticsJump, JalrClearsBitZeroOfTheSum)
{
    for (const Opcode opcode : {Opcode::jalr, Opcode::jalr_v0}) {
        const auto target = [&](std::uint64_t rs1, std::int32_t imm) {
            guest.state.pc = 0x2000;
            guest.state.x[6] = rs1;
            Snapshot expected = guest.snapshot();
            expected.x[5] = 0x2004;
            EXPECT_EQ(guest.run({.opcode = opcode, .length = 4, .rd = 5, .rs1 = 6, .imm = imm}),
                      Outcome::next);
            expected.pc = guest.state.pc;
            EXPECT_TRUE(guest.snapshot() == expected) << "more than rd and pc changed";
            return guest.state.pc;
        };
        EXPECT_EQ(target(0x3001, 0), 0x3000u);
        EXPECT_EQ(target(0x3000, 1), 0x3000u);
        EXPECT_EQ(target(0x3001, 1), 0x3002u);
        EXPECT_EQ(target(0x3001, -1), 0x3000u);
        EXPECT_EQ(target(0, -1), 0xffff'ffff'ffff'fffeu);
        EXPECT_EQ(target(0xffff'ffff'ffff'ffff, 3), 2u);
        EXPECT_EQ(target(0x1'2345'0000, -2048), 0x1'2344'f800u);
    }
}

TEST_F(SemanticsJump, JalrReadsItsBaseBeforeLinking)
{
    guest.state.x[1] = 0x3000;
    ASSERT_EQ(guest.run({.opcode = Opcode::jalr, .length = 2, .rd = 1, .rs1 = 1, .imm = 8}),
              Outcome::next);
    EXPECT_EQ(guest.state.pc, 0x3008u);
    EXPECT_EQ(guest.state.x[1], Guest::start + 2);
}

TEST_F(SemanticsJump, JalrOfVersionZeroLinksBeforeReadingItsBase)
{
    guest.state.x[1] = 0x3000;
    ASSERT_EQ(guest.run({.opcode = Opcode::jalr_v0, .length = 4, .rd = 1, .rs1 = 1, .imm = 7}),
              Outcome::next);
    EXPECT_EQ(guest.state.pc, Guest::start + 10);
    EXPECT_EQ(guest.state.x[1], Guest::start + 4);
}

TEST_F(SemanticsJump, JalrThroughX0IsAbsoluteInEveryVersion)
{
    for (const Opcode opcode : {Opcode::jalr, Opcode::jalr_v0}) {
        guest.state.pc = 0x2000;
        ASSERT_EQ(guest.run({.opcode = opcode, .length = 4, .rd = 0, .rs1 = 0, .imm = 0x41}),
                  Outcome::next);
        EXPECT_EQ(guest.state.pc, 0x40u);
        EXPECT_EQ(guest.state.x[0], 0u);
    }
}

TEST(SemanticsControl, FencesDoNothing)
{
    Guest guest{1};
    for (const Opcode opcode : {Opcode::fence, Opcode::fence_i}) {
        Snapshot expected = guest.snapshot();
        expected.pc += 4;
        ASSERT_EQ(guest.run({.opcode = opcode, .length = 4, .imm = -1}), Outcome::next);
        EXPECT_TRUE(guest.snapshot() == expected);
    }
}

TEST(SemanticsControl, TheEnvironmentIsEnteredBehindTheInstruction)
{
    Guest guest{1};
    Snapshot expected = guest.snapshot();
    expected.pc += 4;
    EXPECT_EQ(guest.run({.opcode = Opcode::ecall, .length = 4}), Outcome::ecall);
    EXPECT_TRUE(guest.snapshot() == expected);
    expected.pc += 2;
    EXPECT_EQ(guest.run({.opcode = Opcode::ebreak, .length = 2}), Outcome::ebreak);
    EXPECT_TRUE(guest.snapshot() == expected);
}
}  // namespace
}  // namespace mopvm::semantics::test
