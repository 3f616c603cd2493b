// SPDX-License-Identifier: MIT
// Loads and stores: values, bounds to the last byte, permissions, dirty pages, and faults that
// change nothing.

#include "unit/semantics_fixture.hpp"

namespace mopvm::semantics::test
{
namespace
{
struct Access
{
    Opcode opcode;
    unsigned width;
    bool is_signed = false;
};

std::string access_name(const ::testing::TestParamInfo<Access>& info)
{
    return test_name(info.param.opcode);
}

constexpr auto all_loads = std::to_array<Access>({{Opcode::lb, 1, true},
                                                  {Opcode::lh, 2, true},
                                                  {Opcode::lw, 4, true},
                                                  {Opcode::ld, 8, true},
                                                  {Opcode::lbu, 1},
                                                  {Opcode::lhu, 2},
                                                  {Opcode::lwu, 4}});
constexpr auto all_stores =
    std::to_array<Access>({{Opcode::sb, 1}, {Opcode::sh, 2}, {Opcode::sw, 4}, {Opcode::sd, 8}});

constexpr std::uint8_t base = 6;
constexpr std::uint8_t data = 7;

Operation load_to(std::uint8_t rd, Opcode opcode, std::int32_t imm = 0)
{
    return {.opcode = opcode, .length = 4, .parts = 1, .rd = rd, .rs1 = base, .imm = imm};
}

Operation store_of(Opcode opcode, std::int32_t imm = 0)
{
    return {.opcode = opcode, .length = 4, .parts = 1, .rs1 = base, .rs2 = data, .imm = imm};
}

class SemanticsLoad : public ::testing::TestWithParam<Access>
{
protected:
    Guest guest;
};

TEST_P(SemanticsLoad, ReadsLittleEndianAtEveryAlignmentAndAcrossPages)
{
    guest.fill_memory();
    const auto [opcode, width, is_signed] = GetParam();
    for (std::uint64_t address = 2 * page_size - 16; address < 2 * page_size + 16; ++address) {
        for (const std::int32_t imm : {-2048, -1, 0, 3, 2047}) {
            guest.state.pc = Guest::start;
            guest.state.x[base] = address - static_cast<std::uint64_t>(imm);
            Snapshot expected = guest.snapshot();
            const std::uint64_t number = guest.number_at(address, width);
            expected.x[5] = is_signed ? signed_field(number, 8 * width) : number;
            expected.pc += 4;
            ASSERT_EQ(guest.run(load_to(5, opcode, imm)), Outcome::next);
            ASSERT_EQ(guest.state.x[5], expected.x[5]) << "address " << address;
            ASSERT_TRUE(guest.snapshot() == expected) << "more than rd and pc changed";
        }
    }
}

TEST_P(SemanticsLoad, ReadsExecutableFrozenAndUntouchedPages)
{
    guest.fill_memory();
    guest.flags()[2] = page_flag::executable | page_flag::frozen;
    guest.state.x[base] = 3 * page_size - GetParam().width / 2;
    const std::vector<std::uint8_t> flags = guest.flags();
    EXPECT_EQ(guest.run(load_to(5, GetParam().opcode)), Outcome::next);
    EXPECT_EQ(guest.flags(), flags);
}

TEST_P(SemanticsLoad, ReachesTheLastByteAndNotBeyond)
{
    const auto [opcode, width, is_signed] = GetParam();
    guest.state.x[base] = guest.size() - width - 1;
    EXPECT_EQ(guest.run(load_to(5, opcode)), Outcome::next);
    EXPECT_EQ(guest.run(load_to(5, opcode, 1)), Outcome::next);
    for (std::uint64_t address = guest.size() - width + 1; address < guest.size(); ++address) {
        guest.state.x[base] = address;
        expect_fault(guest, load_to(5, opcode), ErrorCode::mem_out_of_bound, address + width);
    }
    for (const std::uint64_t address : {guest.size(), guest.size() + 1, std::uint64_t{1} << 63}) {
        guest.state.x[base] = address;
        expect_fault(guest, load_to(5, opcode), ErrorCode::mem_out_of_bound, address);
    }
}

TEST_P(SemanticsLoad, DoesNotWrapAtTheEndOfTheAddressSpace)
{
    for (std::uint64_t below = 1; below <= 8; ++below) {
        guest.state.x[base] = 0 - below;
        expect_fault(guest, load_to(5, GetParam().opcode), ErrorCode::mem_out_of_bound, 0 - below);
    }
    guest.state.x[base] = 0xffff'ffff'ffff'f800;
    expect_fault(guest, load_to(5, GetParam().opcode, 0x7ff), ErrorCode::mem_out_of_bound,
                 ~std::uint64_t{0});
}

TEST_P(SemanticsLoad, EffectiveAddressWrapsModuloTwoToThe64)
{
    guest.put_number(4, 8, 0x1122'3344'5566'7708);
    guest.state.x[base] = 0xffff'ffff'ffff'fffc;
    EXPECT_EQ(guest.run(load_to(5, GetParam().opcode, 8)), Outcome::next);
    EXPECT_EQ(guest.state.x[5], field(0x1122'3344'5566'7708, 0, 8 * GetParam().width));
}

TEST_P(SemanticsLoad, IntoX0StillChecks)
{
    guest.fill_memory();
    guest.state.x[base] = 64;
    EXPECT_EQ(guest.run(load_to(0, GetParam().opcode)), Outcome::next);
    EXPECT_EQ(guest.state.x[0], 0u);
    guest.state.x[base] = guest.size();
    expect_fault(guest, load_to(0, GetParam().opcode), ErrorCode::mem_out_of_bound, guest.size());
}

TEST_P(SemanticsLoad, MayOverwriteItsBase)
{
    guest.put_number(64, 8, 0x42);
    guest.state.x[base] = 64;
    EXPECT_EQ(guest.run(load_to(base, GetParam().opcode)), Outcome::next);
    EXPECT_EQ(guest.state.x[base], 0x42u);
}

TEST_P(SemanticsLoad, InVersionZeroCannotEndAtTheEndOfMemory)
{
    guest.state.memory.load_end = guest.size() - 1;
    const auto [opcode, width, is_signed] = GetParam();
    guest.state.x[base] = guest.size() - width - 1;
    EXPECT_EQ(guest.run(load_to(5, opcode)), Outcome::next);
    for (std::uint64_t address = guest.size() - width; address < guest.size(); ++address) {
        guest.state.x[base] = address;
        expect_fault(guest, load_to(5, opcode), ErrorCode::mem_out_of_bound, address + width);
    }
    guest.state.x[base] = guest.size();
    expect_fault(guest, load_to(5, opcode), ErrorCode::mem_out_of_bound, guest.size());
}

INSTANTIATE_TEST_SUITE_P(Instructions, SemanticsLoad, ::testing::ValuesIn(all_loads), access_name);

class SemanticsStore : public ::testing::TestWithParam<Access>
{
protected:
    Guest guest;
};

TEST_P(SemanticsStore, WritesLittleEndianAtEveryAlignmentAndMarksItsPagesDirty)
{
    const auto [opcode, width, is_signed] = GetParam();
    for (std::uint64_t address = 2 * page_size - 16; address < 2 * page_size + 16; ++address) {
        for (const std::int32_t imm : {-2048, -1, 0, 3, 2047}) {
            guest.fill_memory();
            std::ranges::fill(guest.flags(), std::uint8_t{0});
            guest.state.pc = Guest::start;
            guest.state.x[base] = address - static_cast<std::uint64_t>(imm);
            guest.state.x[data] = 0xf1e2'd3c4'b5a6'9788;
            Snapshot expected = guest.snapshot();
            for (unsigned i = 0; i < width; ++i)
                expected.bytes[address + i] =
                    static_cast<std::uint8_t>(field(guest.state.x[data], 8 * i, 8));
            expected.flags[address / page_size] = page_flag::dirty;
            expected.flags[(address + width - 1) / page_size] = page_flag::dirty;
            expected.pc += 4;
            ASSERT_EQ(guest.run(store_of(opcode, imm)), Outcome::next);
            ASSERT_TRUE(guest.snapshot() == expected) << "address " << address;
        }
    }
}

TEST_P(SemanticsStore, FrozenPagesCanBeWritten)
{
    guest.flags()[1] = page_flag::frozen;
    guest.state.x[base] = page_size;
    EXPECT_EQ(guest.run(store_of(GetParam().opcode)), Outcome::next);
    EXPECT_EQ(guest.flags()[1], page_flag::frozen | page_flag::dirty);
}

TEST_P(SemanticsStore, IntoAnExecutablePageFaultsWithThePageNumber)
{
    guest.flags()[2] = page_flag::executable;
    for (const std::uint64_t address :
         {2 * page_size, 2 * page_size + 5, 3 * page_size - GetParam().width, 3 * page_size - 1})
    {
        guest.state.x[base] = address;
        expect_fault(guest, store_of(GetParam().opcode), ErrorCode::mem_write_on_executable_page,
                     2);
    }
}

TEST_P(SemanticsStore, CrossingIntoAnExecutablePageWritesNothingAndLeavesTheFirstPageDirty)
{
    guest.flags()[2] = page_flag::executable;
    for (std::uint64_t address = 2 * page_size - GetParam().width + 1; address < 2 * page_size;
         ++address)
    {
        guest.flags()[1] = 0;
        guest.state.x[base] = address;
        expect_fault(guest, store_of(GetParam().opcode), ErrorCode::mem_write_on_executable_page, 2,
                     {1});
    }
}

TEST_P(SemanticsStore, CrossingOutOfAnExecutablePageReportsTheFirstPage)
{
    guest.flags()[1] = page_flag::executable;
    guest.state.x[base] = 2 * page_size - 1;
    expect_fault(guest, store_of(GetParam().opcode), ErrorCode::mem_write_on_executable_page, 1);
}

TEST_P(SemanticsStore, ReachesTheLastByteInEveryVersionAndNotBeyond)
{
    const auto [opcode, width, is_signed] = GetParam();
    guest.state.memory.load_end = guest.size() - 1;
    guest.state.x[base] = guest.size() - width - 1;
    EXPECT_EQ(guest.run(store_of(opcode)), Outcome::next);
    EXPECT_EQ(guest.run(store_of(opcode, 1)), Outcome::next);
    for (std::uint64_t address = guest.size() - width + 1; address < guest.size(); ++address) {
        guest.flags()[3] = 0;
        guest.state.x[base] = address;
        expect_fault(guest, store_of(opcode), ErrorCode::mem_out_of_bound, address + width, {3});
    }
    for (const std::uint64_t address : {guest.size(), guest.size() + 1, std::uint64_t{1} << 63}) {
        guest.state.x[base] = address;
        expect_fault(guest, store_of(opcode), ErrorCode::mem_out_of_bound, address);
    }
}

TEST_P(SemanticsStore, PermissionOfTheLastPageComesBeforeItsEnd)
{
    guest.flags()[3] = page_flag::executable;
    guest.state.x[base] = guest.size() - 1;
    expect_fault(guest, store_of(GetParam().opcode), ErrorCode::mem_write_on_executable_page, 3);
}

TEST_P(SemanticsStore, DoesNotWrapAtTheEndOfTheAddressSpace)
{
    for (std::uint64_t below = 1; below <= 8; ++below) {
        guest.state.x[base] = 0 - below;
        expect_fault(guest, store_of(GetParam().opcode), ErrorCode::mem_out_of_bound, 0 - below);
    }
}

TEST_P(SemanticsStore, OfX0WritesZero)
{
    guest.fill_memory();
    guest.state.x[base] = 100;
    Operation operation = store_of(GetParam().opcode);
    operation.rs2 = 0;
    EXPECT_EQ(guest.run(operation), Outcome::next);
    EXPECT_EQ(guest.number_at(100, GetParam().width), 0u);
}

TEST_P(SemanticsStore, KeepsAReservation)
{
    guest.state.reservation = 64;
    guest.state.x[base] = 64;
    EXPECT_EQ(guest.run(store_of(GetParam().opcode)), Outcome::next);
    EXPECT_EQ(guest.state.reservation, 64u);
}

INSTANTIATE_TEST_SUITE_P(Instructions,
                         SemanticsStore,
                         ::testing::ValuesIn(all_stores),
                         access_name);

TEST(SemanticsMemoryAccess, AddressesAtTheEndOfFourMebibytes)
{
    Guest guest{1024};
    const auto outcome = [&](Opcode opcode, std::uint64_t address, std::int32_t imm = 0) {
        guest.state.x[base] = address;
        return guest.run(load_to(5, opcode, imm));
    };
    EXPECT_EQ(outcome(Opcode::ld, 0x3f'eff8), Outcome::next);
    EXPECT_EQ(outcome(Opcode::ld, 0x3f'fff8), Outcome::next);
    EXPECT_EQ(outcome(Opcode::ld, 0x3f'fff9), Outcome::fault);
    EXPECT_EQ(outcome(Opcode::lb, 0x3f'ffff), Outcome::next);
    EXPECT_EQ(outcome(Opcode::lb, 0x40'0000), Outcome::fault);
    EXPECT_EQ(outcome(Opcode::lw, 0x3f'fffd), Outcome::fault);
    EXPECT_EQ(outcome(Opcode::lh, 0x3f'ffff), Outcome::fault);
    EXPECT_EQ(outcome(Opcode::ld, ~std::uint64_t{0}), Outcome::fault);
    EXPECT_EQ(outcome(Opcode::lb, 0xffff'ffff'ffff'f800, 0x7ff), Outcome::fault);
    EXPECT_EQ(outcome(Opcode::lw, 0xffff'ffff'ffff'fffc, 8), Outcome::next);
}
}  // namespace
}  // namespace mopvm::semantics::test
