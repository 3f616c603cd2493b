// SPDX-License-Identifier: MIT
// What the engine settles in C++ behind emitted code: faults and limits in the middle of a block,
// counts, entries anywhere, and what hosts change between runs.

#include "unit/asm_x64_machines.hpp"

#include <array>
#include <functional>
#include <memory>
#include <vector>

namespace mopvm::test
{
namespace
{
/// Something that faults unless the address in a0 is one of data; code may not be written.
struct Faulting
{
    const char* name;
    void (*write)(Assembler&);
    std::uint64_t bad_address;
};

constexpr std::uint64_t nowhere = std::uint64_t{1} << 40;
constexpr std::uint64_t code_address = 0x10000;

constexpr std::array faulting_operations{
    Faulting{"load", [](Assembler& a) { a.ld(a1, 8, a0); }, nowhere},
    Faulting{"load to x0", [](Assembler& a) { a.lw(zero, 8, a0); }, nowhere},
    Faulting{"load over its address", [](Assembler& a) { a.ld(a0, 8, a0); }, nowhere},
    Faulting{"load across the end", [](Assembler& a) { a.lw(a1, 0, a0); }, asm_memory_size - 2},
    Faulting{"store", [](Assembler& a) { a.sd(a1, 8, a0); }, nowhere},
    Faulting{"store to code", [](Assembler& a) { a.sb(a1, 8, a0); }, code_address},
    Faulting{"lr", [](Assembler& a) { a.lr_d(a1, a0); }, nowhere},
    Faulting{"sc", [](Assembler& a) { a.sc_w(a1, a2, a0); }, nowhere},
    Faulting{"amo", [](Assembler& a) { a.amoadd_d(a1, a2, a0); }, nowhere},
    Faulting{"amo on code", [](Assembler& a) { a.amoor_w(a1, a2, a0); }, code_address},
};

/// @p before and @p behind operations of all kinds, some of which fuse and some of which do
/// nothing, around @p faulting.
ElfFile block_around(const Faulting& faulting, int before, int behind)
{
    Assembler a{code_address};
    const auto filler = [&a](int count) {
        for (int i = 0; i < count; ++i) {
            switch (i % 6) {
            case 0:
                a.addi(s2, s2, 1);
                break;
            case 1:
                a.mulhu(s3, s2, s4);
                a.mul(s5, s2, s4);
                break;
            case 2:
                a.addi(zero, s2, 5);
                break;
            case 3:
                a.lui(s6, 0x12345);
                a.addiw(s6, s6, 0x67);
                break;
            case 4:
                a.sd(s2, 16, sp);
                break;
            default:
                a.add(s7, s7, s2);
                a.sltu(s8, s7, s2);
                break;
            }
        }
    };
    filler(before);
    faulting.write(a);
    filler(behind);
    a.exit(0);
    return program(a);
}

TEST(AsmFaults, leave_the_state_of_the_reference_wherever_in_a_block_they_happen)
{
    for (const Faulting& faulting : faulting_operations)
        for (const bool fusion : {false, true})
            for (const bool counting : {false, true})
                for (int before = 0; before < 16; ++before) {
                    SCOPED_TRACE(std::string{faulting.name} + " behind " + std::to_string(before));
                    Config config = asm_config(fusion);
                    config.count_operations = counting;
                    const Program program = parsed(block_around(faulting, before, 16 - before));
                    Machine machine = loaded(program, config);
                    Machine reference = loaded(program, on_reference(config));
                    for (Machine* each : {&machine, &reference}) {
                        each->set_reg(sp, data_address);
                        each->set_reg(s4, ~std::uint64_t{0});
                        each->set_reg(a0, faulting.bad_address);
                    }
                    ASSERT_TRUE(runs_like(machine, reference));
                    ASSERT_EQ(machine.reg(s2) > 0, before > 0);
                    // The host mends what was wrong, and the run goes on at the faulting operation.
                    for (Machine* each : {&machine, &reference})
                        each->set_reg(a0, data_address);
                    ASSERT_TRUE(runs_like(machine, reference));
                    ASSERT_EQ(machine.pc(), reference.pc());
                }
}

TEST(AsmFaults, are_counted_like_the_reference_s)
{
    // In the loop that faults in its third round, with fused operations before and behind.
    Assembler a;
    const auto again = a.bound_label();
    a.mulhu(s3, s2, s4);
    a.mul(s5, s2, s4);
    a.addi(s2, s2, 1);
    a.ld(a1, 0, a0);
    a.lui(s6, 0x12345);
    a.addiw(s6, s6, 0x67);
    a.slli(a0, a0, 4);
    a.j(again);
    Machine machine = loaded(parsed(program(a)), asm_config());
    machine.set_reg(a0, 0x200);
    const Exit exit = machine.run();
    EXPECT_EQ(exit.error.code, ErrorCode::mem_out_of_bound);
    const Stats& stats = machine.stats();
    // Two rounds and a half: three wide products and two constants.
    EXPECT_EQ(machine.reg(s2), 4U);
    EXPECT_EQ(stats.fused[static_cast<std::size_t>(FusionRule::wide_mulu)], 4U);
    EXPECT_EQ(stats.fused[static_cast<std::size_t>(FusionRule::load_const_lui)], 3U);
    EXPECT_EQ(stats.operations, 3 * 6 + 2U);
    EXPECT_EQ(stats.instructions, 3 * 8 + 3U);
}

/// Several hundred operations in a row, of all kinds that fuse and that do not.
Assembler straight_code()
{
    Assembler a{code_address};
    for (int i = 0; i < 120; ++i) {
        a.addi(s2, s2, i);
        a.half(0x0001);
        a.xor_(s3, s3, s2);
        if (i % 3 == 0) {
            a.mulhu(s4, s3, s2);
            a.mul(s5, s3, s2);
        }
        if (i % 5 == 0)
            a.sd(s3, 8 * (i % 50), sp);
        if (i % 7 == 0)
            a.ld(s6, 8 * (i % 50), sp);
    }
    a.exit(0);
    return a;
}

TEST(AsmEntries, are_everywhere)
{
    const Assembler code = straight_code();
    const Program program_of_both = parsed(program(code));
    // One machine after another, so that later blocks meet those of earlier ones.
    for (std::uint64_t entry = code.base(); entry < code.base() + 700; ++entry) {
        Machine machine = loaded(program_of_both, asm_config());
        Machine reference = loaded(program_of_both, on_reference(asm_config()));
        for (Machine* each : {&machine, &reference}) {
            each->set_reg(sp, data_address);
            each->set_pc(entry);
        }
        ASSERT_TRUE(runs_like(machine, reference)) << "entry " << entry - code.base();
    }
}

TEST(AsmLimits, cut_a_long_block_at_every_cycle)
{
    const Assembler code = straight_code();
    const Program program_of_both = parsed(program(code));
    for (const bool counting : {false, true}) {
        Config config = asm_config();
        config.count_operations = counting;
        Machine machine = loaded(program_of_both, config);
        Machine reference = loaded(program_of_both, on_reference(config));
        for (Machine* each : {&machine, &reference})
            each->set_reg(sp, data_address);
        for (std::uint64_t limit = 0; limit < 1'500; ++limit) {
            machine.set_max_cycles(limit);
            reference.set_max_cycles(limit);
            ASSERT_TRUE(runs_like(machine, reference)) << "limit " << limit;
        }
        EXPECT_NE(machine.reg(a7), 0U) << "the program has not come to its end";
    }
}

TEST(AsmLimits, below_what_is_charged_already_let_nothing_run)
{
    const Program program_of_both = parsed(program(straight_code()));
    Machine machine = loaded(program_of_both, asm_config());
    machine.set_cycles(1'000);
    machine.set_max_cycles(10);
    for (int i = 0; i < 2; ++i) {
        const Exit exit = machine.run();
        EXPECT_EQ(exit.error.code, ErrorCode::cycles_exceeded);
        EXPECT_EQ(exit.cycles, 1'000U);
        EXPECT_EQ(exit.pc, code_address);
    }
    EXPECT_EQ(machine.reg(s2), 0U);
}

/// Goes elsewhere at each breakpoint, and changes a register.
class Redirecting final : public Debugger
{
public:
    Result<void> initialize(Machine&) noexcept override { return {}; }
    Result<void> ebreak(Machine& machine) noexcept override
    {
        machine.set_reg(a0, machine.reg(a0) + machine.pc());
        machine.set_pc(machine.pc() + 8);
        machine.set_max_cycles(machine.max_cycles() - 1);
        return {};
    }
};

TEST(AsmBreakpoints, let_the_host_change_where_the_run_goes_on)
{
    Assembler a{code_address};
    for (int i = 0; i < 5; ++i) {
        a.addi(a0, a0, 1);
        a.ebreak();
        a.half(0x9002);  // skipped
        a.half(0x9002);
        a.word(0);
        a.addi(a0, a0, 2);
    }
    a.exit_with_a0();
    const Program program_of_both = parsed(program(a));
    Machine machine = loaded(program_of_both, asm_config());
    Machine reference = loaded(program_of_both, on_reference(asm_config()));
    for (Machine* each : {&machine, &reference})
        each->set_debugger(std::make_shared<Redirecting>());
    EXPECT_TRUE(runs_like(machine, reference));
    EXPECT_NE(machine.reg(a0), 0U);
}

TEST(AsmMemorySizes, all_have_the_same_handlers)
{
    for (const std::uint64_t size :
         {min_memory_size, 3 * memory_size_unit, default_memory_size, max_memory_size})
    {
        Assembler a{code_address};
        const auto again = a.bound_label();
        a.sd(s2, 0, s2);
        a.ld(s3, 0, s2);
        a.add(s4, s4, s3);
        a.add(s2, s2, s5);
        a.bltu(s2, s6, again);
        a.ld(s7, -8, s6);
        a.lbu(s8, 0, s6);  // one byte too far
        Config config = asm_config();
        config.memory_size = size;
        Machine machine = loaded(parsed({.segments = {{.bytes = a.code()}}}), config);
        machine.set_reg(s2, size / 2);
        machine.set_reg(s5, size / 16);
        machine.set_reg(s6, size);
        const Exit exit = machine.run();
        EXPECT_EQ(exit.error.code, ErrorCode::mem_out_of_bound);
        EXPECT_EQ(exit.error.address, size);
        EXPECT_EQ(machine.reg(s4), 8 * (size / 2) + 28 * (size / 16));
        EXPECT_EQ(machine.memory().load<std::uint64_t>(size / 2).value(), size / 2);
    }
}
}  // namespace
}  // namespace mopvm::test
