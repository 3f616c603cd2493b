// SPDX-License-Identifier: MIT
// LR, SC and AMO: results at any alignment, the reservation, and faults that change nothing.

#include "unit/semantics_fixture.hpp"

namespace mopvm::semantics::test
{
namespace
{
constexpr std::uint8_t base = 6;
constexpr std::uint8_t data = 7;

Operation atomic(Opcode opcode, std::uint8_t rd = 5, std::uint8_t rs2 = data)
{
    return {.opcode = opcode, .length = 4, .parts = 1, .rd = rd, .rs1 = base, .rs2 = rs2};
}

unsigned width_of(Opcode opcode)
{
    return isa::traits(opcode).cost == isa::CostClass::atomic_word ? 4 : 8;
}

/// An AMO and what it should store; the values are as wide as the access, sign-extended.
using Amo = Computation;

bool less_signed(std::uint64_t a, std::uint64_t b)
{
    constexpr std::uint64_t sign_bit = std::uint64_t{1} << 63;
    return (a ^ sign_bit) < (b ^ sign_bit);
}

std::uint64_t swapped(std::uint64_t /*old*/, std::uint64_t source)
{
    return source;
}
std::uint64_t added(std::uint64_t old, std::uint64_t source)
{
    return old - (0 - source);
}
std::uint64_t exclusive(std::uint64_t old, std::uint64_t source)
{
    return (old | source) & ~(old & source);
}
std::uint64_t both(std::uint64_t old, std::uint64_t source)
{
    return ~(~old | ~source);
}
std::uint64_t either(std::uint64_t old, std::uint64_t source)
{
    return ~(~old & ~source);
}
std::uint64_t smaller(std::uint64_t old, std::uint64_t source)
{
    return less_signed(old, source) ? old : source;
}
std::uint64_t larger(std::uint64_t old, std::uint64_t source)
{
    return less_signed(old, source) ? source : old;
}
// Sign extension keeps the unsigned order of words.
std::uint64_t smaller_unsigned(std::uint64_t old, std::uint64_t source)
{
    return old < source ? old : source;
}
std::uint64_t larger_unsigned(std::uint64_t old, std::uint64_t source)
{
    return old < source ? source : old;
}

class SemanticsAmo : public ::testing::TestWithParam<Amo>
{
protected:
    const Opcode opcode = GetParam().opcode;
    const unsigned width = width_of(opcode);
    Guest guest;
};

TEST_P(SemanticsAmo, ReturnsTheOldValueAndStoresTheNew)
{
    std::uint64_t address = page_size;
    for_value_pairs([&](std::uint64_t old, std::uint64_t source) {
        address = page_size + (address + 1) % 16;
        guest.state.pc = Guest::start;
        guest.state.x[base] = address;
        guest.state.x[data] = source;
        guest.put_number(address, 8, old);
        Snapshot expected = guest.snapshot();
        const std::uint64_t old_value = signed_field(old, 8 * width);
        const std::uint64_t stored =
            GetParam().expected(old_value, signed_field(source, 8 * width));
        expected.x[5] = old_value;
        expected.pc += 4;
        expected.flags[1] |= page_flag::dirty;
        for (unsigned i = 0; i < width; ++i)
            expected.bytes[address + i] = static_cast<std::uint8_t>(stored >> (8 * i));
        ASSERT_EQ(guest.run(atomic(opcode)), Outcome::next);
        ASSERT_EQ(guest.state.x[5], old_value);
        ASSERT_EQ(guest.number_at(address, width), field(stored, 0, 8 * width))
            << std::hex << "old 0x" << old << " source 0x" << source << " seed 0x" << seed;
        ASSERT_TRUE(guest.snapshot() == expected);
    });
}

TEST_P(SemanticsAmo, CrossesPages)
{
    for (std::uint64_t address = 2 * page_size - width + 1; address < 2 * page_size; ++address) {
        std::ranges::fill(guest.flags(), std::uint8_t{0});
        guest.put_number(address, width, 0x8182'8384'8586'8788);
        guest.state.x[base] = address;
        guest.state.x[data] = 0x0102'0304'f506'0708;
        const std::uint64_t stored =
            GetParam().expected(signed_field(0x8182'8384'8586'8788, 8 * width),
                                signed_field(guest.state.x[data], 8 * width));
        ASSERT_EQ(guest.run(atomic(opcode)), Outcome::next);
        EXPECT_EQ(guest.state.x[5], signed_field(0x8182'8384'8586'8788, 8 * width));
        EXPECT_EQ(guest.number_at(address, width), field(stored, 0, 8 * width));
        EXPECT_EQ(guest.flags(), (std::vector<std::uint8_t>{0, 4, 4, 0}));
    }
}

TEST_P(SemanticsAmo, DestinationMayBeASourceOrX0)
{
    const std::uint64_t stored = GetParam().expected(0x55, 0x3c);
    for (const std::uint8_t rd : {std::uint8_t{0}, base, data}) {
        guest.put_number(64, 8, 0x55);
        guest.state.x[base] = 64;
        guest.state.x[data] = 0x3c;
        ASSERT_EQ(guest.run(atomic(opcode, rd)), Outcome::next);
        EXPECT_EQ(guest.state.x[rd], rd == 0 ? 0u : 0x55u);
        EXPECT_EQ(guest.number_at(64, 8), stored);
    }
}

TEST_P(SemanticsAmo, SourceMayBeTheAddress)
{
    guest.put_number(64, 8, 0x55);
    guest.state.x[base] = 64;
    ASSERT_EQ(guest.run(atomic(opcode, 5, base)), Outcome::next);
    EXPECT_EQ(guest.number_at(64, 8), GetParam().expected(0x55, 64));
}

TEST_P(SemanticsAmo, KeepsAReservation)
{
    guest.state.x[base] = 64;
    guest.state.reservation = 64;
    ASSERT_EQ(guest.run(atomic(opcode)), Outcome::next);
    EXPECT_EQ(guest.state.reservation, 64u);
}

INSTANTIATE_TEST_SUITE_P(Instructions,
                         SemanticsAmo,
                         ::testing::ValuesIn(std::to_array<Amo>({
                             {Opcode::amoswap_w, swapped},
                             {Opcode::amoadd_w, added},
                             {Opcode::amoxor_w, exclusive},
                             {Opcode::amoand_w, both},
                             {Opcode::amoor_w, either},
                             {Opcode::amomin_w, smaller},
                             {Opcode::amomax_w, larger},
                             {Opcode::amominu_w, smaller_unsigned},
                             {Opcode::amomaxu_w, larger_unsigned},
                             {Opcode::amoswap_d, swapped},
                             {Opcode::amoadd_d, added},
                             {Opcode::amoxor_d, exclusive},
                             {Opcode::amoand_d, both},
                             {Opcode::amoor_d, either},
                             {Opcode::amomin_d, smaller},
                             {Opcode::amomax_d, larger},
                             {Opcode::amominu_d, smaller_unsigned},
                             {Opcode::amomaxu_d, larger_unsigned},
                         })),
                         computation_name);

std::string opcode_name(const ::testing::TestParamInfo<Opcode>& info)
{
    return test_name(info.param);
}

/// Faults that every operation which stores, SC and all AMOs, has in common.
class SemanticsAtomicStore : public ::testing::TestWithParam<Opcode>
{
protected:
    void SetUp() override
    {
        guest.fill_memory();
        guest.state.reservation = 64;
    }

    /// Faults with and without a reservation of the address.
    void expect_store_fault(std::uint64_t address,
                            ErrorCode code,
                            std::uint64_t reported,
                            const std::vector<std::uint64_t>& dirty_pages = {})
    {
        for (const std::uint64_t reservation : {std::uint64_t{64}, no_reservation, address}) {
            for (auto& flags : guest.flags())
                flags &= static_cast<std::uint8_t>(~page_flag::dirty);
            guest.state.reservation = reservation;
            guest.state.x[base] = address;
            expect_fault(guest, atomic(GetParam()), code, reported, dirty_pages);
        }
    }

    const unsigned width = width_of(GetParam());
    Guest guest;
};

TEST_P(SemanticsAtomicStore, ChecksThePageBeforeAllElse)
{
    guest.flags()[2] = page_flag::executable;
    expect_store_fault(2 * page_size, ErrorCode::mem_write_on_executable_page, 2);
    expect_store_fault(3 * page_size - width, ErrorCode::mem_write_on_executable_page, 2);
    expect_store_fault(3 * page_size - 1, ErrorCode::mem_write_on_executable_page, 2);
}

TEST_P(SemanticsAtomicStore, CrossingIntoAnExecutablePageLeavesTheFirstPageDirty)
{
    guest.flags()[2] = page_flag::executable;
    for (std::uint64_t address = 2 * page_size - width + 1; address < 2 * page_size; ++address)
        expect_store_fault(address, ErrorCode::mem_write_on_executable_page, 2, {1});
}

TEST_P(SemanticsAtomicStore, StaysInBoundsInEveryVersion)
{
    guest.state.memory.load_end = guest.size() - 1;
    guest.state.x[base] = guest.size() - width;
    EXPECT_EQ(guest.run(atomic(GetParam())), Outcome::next);
    for (std::uint64_t address = guest.size() - width + 1; address < guest.size(); ++address)
        expect_store_fault(address, ErrorCode::mem_out_of_bound, address + width, {3});
    expect_store_fault(guest.size(), ErrorCode::mem_out_of_bound, guest.size());
    for (std::uint64_t below = 1; below <= 8; ++below)
        expect_store_fault(0 - below, ErrorCode::mem_out_of_bound, 0 - below);
}

TEST_P(SemanticsAtomicStore, IntoX0StillChecks)
{
    guest.state.x[base] = guest.size();
    expect_fault(guest, atomic(GetParam(), 0), ErrorCode::mem_out_of_bound, guest.size());
}

INSTANTIATE_TEST_SUITE_P(Instructions,
                         SemanticsAtomicStore,
                         ::testing::Values(Opcode::sc_w,
                                           Opcode::amoswap_w,
                                           Opcode::amoadd_w,
                                           Opcode::amoxor_w,
                                           Opcode::amoand_w,
                                           Opcode::amoor_w,
                                           Opcode::amomin_w,
                                           Opcode::amomax_w,
                                           Opcode::amominu_w,
                                           Opcode::amomaxu_w,
                                           Opcode::sc_d,
                                           Opcode::amoswap_d,
                                           Opcode::amoadd_d,
                                           Opcode::amoxor_d,
                                           Opcode::amoand_d,
                                           Opcode::amoor_d,
                                           Opcode::amomin_d,
                                           Opcode::amomax_d,
                                           Opcode::amominu_d,
                                           Opcode::amomaxu_d),
                         opcode_name);

/// An LR and an SC, of the same width or not.
using ReservationPair = std::pair<Opcode, Opcode>;

std::string pair_name(const ::testing::TestParamInfo<ReservationPair>& info)
{
    return test_name(info.param.first) + "_" + test_name(info.param.second);
}

class SemanticsReservation : public ::testing::TestWithParam<ReservationPair>
{
protected:
    void SetUp() override
    {
        guest.fill_memory();
        guest.state.x[base] = address;
        guest.state.x[data] = 0xfeed'beef'8000'1234;
    }

    static constexpr std::uint64_t address = 2 * page_size - 3;
    const Opcode lr = GetParam().first;
    const Opcode sc = GetParam().second;
    Guest guest;
};

TEST_P(SemanticsReservation, LoadReservedReadsSignedAndKeepsTheExactAddress)
{
    guest.put_number(address, 8, 0x8877'6655'c433'2211);
    Snapshot expected = guest.snapshot();
    expected.x[5] = signed_field(0x8877'6655'c433'2211, 8 * width_of(lr));
    expected.pc += 4;
    expected.reservation = address;
    ASSERT_EQ(guest.run(atomic(lr)), Outcome::next);
    EXPECT_TRUE(guest.snapshot() == expected);
}

TEST_P(SemanticsReservation, StoreConditionalSucceedsOnceAfterALoadOfAnyWidth)
{
    ASSERT_EQ(guest.run(atomic(lr)), Outcome::next);
    Snapshot expected = guest.snapshot();
    expected.x[5] = 0;
    expected.pc += 4;
    expected.reservation = no_reservation;
    for (unsigned i = 0; i < width_of(sc); ++i)
        expected.bytes[address + i] = static_cast<std::uint8_t>(guest.state.x[data] >> (8 * i));
    expected.flags = {0, 4, 4, 0};
    ASSERT_EQ(guest.run(atomic(sc)), Outcome::next);
    EXPECT_TRUE(guest.snapshot() == expected);

    expected.x[5] = 1;
    expected.pc += 4;
    guest.state.x[data] = expected.x[data] = 0x1111'1111'1111'1111;
    ASSERT_EQ(guest.run(atomic(sc)), Outcome::next);
    EXPECT_TRUE(guest.snapshot() == expected) << "the second time it must not store";
}

TEST_P(SemanticsReservation, OfAnotherAddressFailsMarksDirtyAndIsDropped)
{
    ASSERT_EQ(guest.run(atomic(lr)), Outcome::next);
    for (const std::uint64_t other : {address - 1, address + 1, address + 8}) {
        std::ranges::fill(guest.flags(), std::uint8_t{0});
        guest.state.reservation = address;
        guest.state.x[base] = other;
        Snapshot expected = guest.snapshot();
        expected.x[5] = 1;
        expected.pc += 4;
        expected.reservation = no_reservation;
        expected.flags[other / page_size] = page_flag::dirty;
        expected.flags[(other + width_of(sc) - 1) / page_size] = page_flag::dirty;
        ASSERT_EQ(guest.run(atomic(sc)), Outcome::next);
        EXPECT_TRUE(guest.snapshot() == expected) << other;
    }
}

TEST_P(SemanticsReservation, IsReplacedByASecondLoad)
{
    ASSERT_EQ(guest.run(atomic(lr)), Outcome::next);
    guest.state.x[base] = 128;
    ASSERT_EQ(guest.run(atomic(lr)), Outcome::next);
    EXPECT_EQ(guest.state.reservation, 128u);
    ASSERT_EQ(guest.run(atomic(sc)), Outcome::next);
    EXPECT_EQ(guest.state.x[5], 0u);
}

TEST_P(SemanticsReservation, SurvivesAFaultingStoreConditional)
{
    ASSERT_EQ(guest.run(atomic(lr)), Outcome::next);
    guest.flags()[3] = page_flag::executable;
    guest.state.x[base] = 3 * page_size;
    expect_fault(guest, atomic(sc), ErrorCode::mem_write_on_executable_page, 3);
    EXPECT_EQ(guest.state.reservation, address);
    guest.state.x[base] = address;
    ASSERT_EQ(guest.run(atomic(sc)), Outcome::next);
    EXPECT_EQ(guest.state.x[5], 0u);
}

TEST_P(SemanticsReservation, SurvivesAFaultingLoad)
{
    guest.state.reservation = 64;
    guest.state.x[base] = guest.size() - 1;
    expect_fault(guest, atomic(lr), ErrorCode::mem_out_of_bound, guest.size() - 1 + width_of(lr));
    EXPECT_EQ(guest.state.reservation, 64u);
}

TEST_P(SemanticsReservation, LoadReservedReachesTheLastByteInVersionZero)
{
    guest.state.memory.load_end = guest.size() - 1;
    guest.state.x[base] = guest.size() - width_of(lr);
    ASSERT_EQ(guest.run(atomic(lr)), Outcome::next);
    EXPECT_EQ(guest.state.reservation, guest.size() - width_of(lr));
}

TEST_P(SemanticsReservation, LoadReservedReadsExecutablePages)
{
    guest.flags()[1] = page_flag::executable;
    ASSERT_EQ(guest.run(atomic(lr)), Outcome::next);
    EXPECT_EQ(guest.state.reservation, address);
    EXPECT_EQ(guest.flags()[1], page_flag::executable);
}

TEST_P(SemanticsReservation, DestinationMayBeASourceOrX0)
{
    ASSERT_EQ(guest.run(atomic(lr, base)), Outcome::next);
    EXPECT_EQ(guest.state.reservation, address);
    EXPECT_EQ(guest.state.x[base],
              signed_field(guest.number_at(address, width_of(lr)), 8 * width_of(lr)));

    guest.state.x[base] = address;
    ASSERT_EQ(guest.run(atomic(sc, data)), Outcome::next);
    EXPECT_EQ(guest.number_at(address, 4), 0x8000'1234u);
    EXPECT_EQ(guest.state.x[data], 0u);

    ASSERT_EQ(guest.run(atomic(lr, 0)), Outcome::next);
    EXPECT_EQ(guest.state.reservation, address);
    ASSERT_EQ(guest.run(atomic(sc, base)), Outcome::next);
    EXPECT_EQ(guest.state.x[base], 0u);

    guest.state.x[base] = address;
    ASSERT_EQ(guest.run(atomic(sc, 0)), Outcome::next);
    EXPECT_EQ(guest.state.x[0], 0u);
}

INSTANTIATE_TEST_SUITE_P(Instructions,
                         SemanticsReservation,
                         ::testing::Values(ReservationPair{Opcode::lr_w, Opcode::sc_w},
                                           ReservationPair{Opcode::lr_w, Opcode::sc_d},
                                           ReservationPair{Opcode::lr_d, Opcode::sc_w},
                                           ReservationPair{Opcode::lr_d, Opcode::sc_d}),
                         pair_name);
}  // namespace
}  // namespace mopvm::semantics::test
