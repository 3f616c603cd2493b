// SPDX-License-Identifier: MIT
// Faults that RISC-V machines are known to have had with jumps and decoding, in every
// configuration.

#include "support/guest.hpp"

namespace
{
using namespace mopvm;
using namespace mopvm::test;

class PitfallsControl : public EveryConfig
{};
MOPVM_ALL_CONFIGS(PitfallsControl);

TEST_P(PitfallsControl, link_register_as_target_register)
{
    Assembler a;
    const auto wrong = a.label(), first = a.label(), second = a.label(), third = a.label();
    a.la(ra, first);
    a.jalr(ra, 0, ra);
    const auto after_first = a.bound_label();
    a.exit(1);  // where version 0 goes: it writes the link before it reads the target
    a.bind(first);
    a.la(t0, after_first);
    a.bne(ra, t0, wrong);
    a.la(t1, second);
    a.jalr(t1, 0, t1);
    a.exit(2);
    a.bind(second);
    a.la(ra, third);
    a.half(0x9082);  // c.jalr ra
    const auto after_third = a.bound_label();
    a.exit(3);
    a.bind(third);
    a.la(t0, after_third);
    a.bne(ra, t0, wrong);
    a.exit(0);
    a.bind(wrong);
    a.exit(4);
    expect_exit(run(a, config()), config().version == Version::v0 ? 1 : 0);
}

TEST_P(PitfallsControl, version_0_adds_the_offset_to_the_link)
{
    Assembler a;
    a.li(ra, a.base() + 4);
    a.jalr(ra, 16, ra);  // to itself plus 20 in version 0, else to base plus 20
    const std::uint64_t link = a.here();
    a.pad_to(a.base() + 20);
    a.li(s0, 1);
    while (a.here() < link + 16)
        a.nop();
    a.mv(a0, s0);
    a.exit_with_a0();
    const bool adds_to_link = config().version == Version::v0;
    Machine machine = load(program(a), config());
    while (machine.pc() != link - 4)
        ASSERT_FALSE(machine.step());
    ASSERT_FALSE(machine.step());
    EXPECT_EQ(machine.pc(), adds_to_link ? link + 16 : a.base() + 20);
    EXPECT_EQ(machine.reg(ra), link);
    // Engines have their own way to get there.
    const Ran ran = run(a, config());
    expect_exit(ran, adds_to_link ? 0 : 1);
    EXPECT_EQ(ran.reg(ra), link);
}

TEST_P(PitfallsControl, jumps_through_registers_clear_bit_0)
{
    Assembler a;
    const auto wrong = a.label(), t1_ = a.label(), t2_ = a.label(), t3_ = a.label(),
               t4_ = a.label();
    a.li(s1, 1000);
    const auto again = a.bound_label();
    a.li(s0, 0);
    a.la(t0, t1_);
    a.addi(t0, t0, 1);
    a.jalr(zero, 0, t0);
    a.j(wrong);
    a.bind(t1_);
    a.addi(s0, s0, 1);
    a.la(t0, t2_);
    a.jalr(zero, 1, t0);
    a.j(wrong);
    a.bind(t2_);
    a.addi(s0, s0, 1);
    a.la(t0, t3_);
    a.addi(t0, t0, 1);
    a.half(0x8282);  // c.jr t0
    a.j(wrong);
    a.bind(t3_);
    a.addi(s0, s0, 1);
    a.la(t0, t4_);
    a.addi(t0, t0, 1);
    a.half(0x9282);  // c.jalr t0
    const auto link = a.bound_label();
    a.j(wrong);
    a.bind(t4_);
    a.addi(s0, s0, 1);
    a.la(t1, link);
    a.bne(ra, t1, wrong);
    a.check(s0, 4, 2);
    a.addi(s1, s1, -1);
    a.bnez(s1, again);
    a.exit(0);
    a.bind(wrong);
    a.exit(1);
    expect_exit(run(a, config()), 0);
}

TEST_P(PitfallsControl, jump_to_an_address_without_code)
{
    Assembler to_zero;
    to_zero.jalr(zero, 0, zero);
    const Ran ran = run(to_zero, config());
    expect_error(ran, {.code = ErrorCode::mem_write_on_executable_page, .address = 0});
    EXPECT_EQ(ran.exit.pc, 0U);
    EXPECT_EQ(ran.exit.cycles, 3U);

    Assembler to_end;
    to_end.li(t0, default_memory_size);
    to_end.jalr(zero, 0, t0);
    expect_error(run(to_end, config()),
                 {.code = ErrorCode::mem_out_of_bound, .address = default_memory_size});

    Assembler to_data;
    to_data.li(t0, data_address);
    to_data.jalr(zero, 0, t0);
    expect_error(run(to_data, config()), {.code = ErrorCode::mem_write_on_executable_page,
                                          .address = data_address / page_size});
}

TEST_P(PitfallsControl, call_of_an_address_without_code)
{
    Assembler a;
    a.jalr(ra, 0, zero);
    const std::uint64_t link = a.here();
    const Ran ran = run(a, config());
    expect_error(ran, {.code = ErrorCode::mem_write_on_executable_page, .address = 0});
    EXPECT_EQ(ran.exit.pc, 0U);
    EXPECT_EQ(ran.exit.cycles, 3U);
    EXPECT_EQ(ran.reg(ra), link);
}

TEST_P(PitfallsControl, code_at_address_0_runs)
{
    Assembler a{0};
    const auto there = a.label();
    a.bnez(s0, there);
    a.li(s0, 1);
    a.jalr(zero, 0, zero);
    a.bind(there);
    a.exit(7);
    expect_exit(run(a, config()), 7);
}

/// Runs one parcel in an otherwise valid program.
Ran run_parcel(std::uint32_t bits, bool word, const Config& config)
{
    Assembler a;
    a.li(a0, data_address);
    a.li(sp, data_address + 1024);
    a.li(a1, 1);
    a.jal(zero, 4);  // the parcel begins a block
    if (word)
        a.word(bits);
    else
        a.half(bits);
    a.exit(0);
    return run(a, config);
}

TEST_P(PitfallsControl, reserved_encodings_are_illegal)
{
    for (const std::uint32_t bits : {0x0000U, 0x0004U, 0x6101U, 0x6401U, 0x2005U, 0x4002U, 0x6002U,
                                     0x8002U, 0x8000U, 0x9c41U, 0x9c61U})
    {
        const Ran ran = run_parcel(bits, false, config());
        expect_error(
            ran, {.code = ErrorCode::invalid_instruction, .bits = bits, .address = ran.exit.pc});
    }
    for (const std::uint32_t bits : {0xffffffffU, 0x0ff0008fU}) {
        const Ran ran = run_parcel(bits, true, config());
        expect_error(
            ran, {.code = ErrorCode::invalid_instruction, .bits = bits, .address = ran.exit.pc});
    }
}

TEST_P(PitfallsControl, hints_do_nothing)
{
    for (const std::uint32_t bits :
         {0x0081U, 0x0005U, 0x4005U, 0x6005U, 0x0006U, 0x0082U, 0x802eU, 0x902eU, 0x8001U, 0x8401U})
    {
        const Ran ran = run_parcel(bits, false, config());
        const bool shift_hint = bits == 0x8001 || bits == 0x8401;  // zero c.srli, c.srai
        if (config().version == Version::v0 && !shift_hint)
            expect_error(
                ran,
                {.code = ErrorCode::invalid_instruction, .bits = bits, .address = ran.exit.pc});
        else
            expect_exit(ran, 0);
    }
    for (const std::uint32_t bits :
         {0x12345037U, 0x00056013U, 0x8330000fU, 0x2330000fU, 0x0100000fU})
        expect_exit(run_parcel(bits, true, config()), 0);
}
}  // namespace
