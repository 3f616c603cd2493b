// SPDX-License-Identifier: MIT
// What holds for every operation alike: x0 stays zero, pc moves by the length, nothing else
// changes.

#include "unit/semantics_fixture.hpp"

namespace mopvm::semantics::test
{
namespace
{
/// Calls @p check with every operation but `invalid`.
template <typename Check>
void for_opcodes(Check&& check)
{
    for (std::size_t i = 1; i < isa::opcode_count; ++i) {
        const auto opcode = static_cast<Opcode>(i);
        SCOPED_TRACE(isa::traits(opcode).mnemonic);
        check(opcode);
    }
}

/// All registers hold an address, so that every access of memory succeeds.
void fill_registers(Guest& guest)
{
    for (std::size_t i = 1; i < isa::register_count; ++i)
        guest.state.x[i] = 0x800 + 16 * i;
}

TEST(SemanticsExecute, WritesToX0AreDiscarded)
{
    for_opcodes([](Opcode opcode) {
        Guest guest;
        guest.fill_memory();
        fill_registers(guest);
        Snapshot expected = guest.snapshot();
        // The slots of fused operations are sources and destinations at once.
        const bool fused = isa::is_fused(opcode);
        for (const std::uint8_t source : {std::uint8_t{0}, std::uint8_t{9}}) {
            const std::uint8_t slot = fused ? std::uint8_t{0} : source;
            EXPECT_NE(
                guest.run(
                    {.opcode = opcode, .length = 4, .rd = 0, .rs1 = slot, .rs2 = slot, .imm = 32}),
                Outcome::fault);
            EXPECT_EQ(guest.state.x[0], 0u);
        }
        // The far jumps link to ra whatever their slots are.
        if (opcode == Opcode::far_jump_rel || opcode == Opcode::far_jump_abs)
            expected.x[isa::reg_ra] = guest.state.x[isa::reg_ra];
        EXPECT_TRUE(std::ranges::equal(guest.state.x, expected.x));
    });
}

TEST(SemanticsExecute, OperationsThatDoNotJumpAdvanceByTheirLength)
{
    for_opcodes([](Opcode opcode) {
        const isa::Flow flow = isa::traits(opcode).flow;
        if (flow != isa::Flow::next && flow != isa::Flow::system)
            return;
        Guest guest;
        for (std::uint8_t length = 2; length <= 20; length += 2) {
            fill_registers(guest);
            guest.state.pc = 0x12'3456'7890;
            EXPECT_NE(guest.run({.opcode = opcode,
                                 .length = length,
                                 .parts = 1,
                                 .rd = 5,
                                 .rs1 = 6,
                                 .rs2 = 7,
                                 .r3 = 8,
                                 .r4 = 9}),
                      Outcome::fault);
            EXPECT_EQ(guest.state.pc, std::uint64_t{0x12'3456'7890} + length);
        }
    });
}

TEST(SemanticsExecute, OnlyNamedRegistersChange)
{
    for_opcodes([](Opcode opcode) {
        Guest guest;
        guest.fill_memory();
        fill_registers(guest);
        const bool fused = isa::is_fused(opcode);
        const Snapshot before = guest.snapshot();
        EXPECT_NE(guest.run({.opcode = opcode,
                             .length = 4,
                             .parts = 1,
                             .rd = 5,
                             .rs1 = 6,
                             .rs2 = 7,
                             .r3 = 8,
                             .r4 = 9,
                             .imm = 24}),
                  Outcome::fault);
        for (std::size_t i = 0; i < isa::register_count; ++i) {
            const bool named = i == 5 || (fused && (i == isa::reg_ra || (i >= 6 && i <= 8)));
            EXPECT_TRUE(named || guest.state.x[i] == before.x[i]) << "x" << i;
        }
    });
}

TEST(SemanticsExecute, CyclesAreLeftToTheCaller)
{
    for_opcodes([](Opcode opcode) {
        Guest guest;
        fill_registers(guest);
        guest.state.cycles = 17;
        guest.state.max_cycles = 17;
        EXPECT_NE(guest.run({.opcode = opcode,
                             .length = 4,
                             .parts = 1,
                             .rd = 5,
                             .rs1 = 6,
                             .rs2 = 7,
                             .cost = 9}),
                  Outcome::fault);
        EXPECT_EQ(guest.state.cycles, 17u);
        EXPECT_EQ(guest.state.max_cycles, 17u);
    });
}

TEST(SemanticsExecute, ResultsAreConstantExpressions)
{
    static_assert(handlers::add(1, 2) == 3);
    static_assert(handlers::div(std::uint64_t{1} << 63, ~std::uint64_t{0}) == std::uint64_t{1}
                                                                                  << 63);
    static_assert(handlers::mulhu(~std::uint64_t{0}, ~std::uint64_t{0}) == ~std::uint64_t{1});
    static_assert(handlers::sra(std::uint64_t{1} << 63, 63) == ~std::uint64_t{0});
    static_assert(handlers::clmul(3, 3) == 5);
    static_assert(handlers::rev8(1) == std::uint64_t{1} << 56);
}
}  // namespace
}  // namespace mopvm::semantics::test
