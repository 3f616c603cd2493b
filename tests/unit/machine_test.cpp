// SPDX-License-Identifier: MIT
// The machine: configuration, loading, running, limits, pause and reset.

#include "unit/machine_fixture.hpp"

#include <array>
#include <limits>
#include <optional>
#include <string>
#include <thread>

namespace
{
using namespace mopvm;
using namespace mopvm::test;

ErrorCode create_error(const Config& config)
{
    const auto machine = Machine::create(config);
    EXPECT_FALSE(machine);
    return machine ? ErrorCode{} : machine.error().code;
}

TEST(MachineCreate, checks_the_configuration)
{
    EXPECT_TRUE(Machine::create({}));
    EXPECT_EQ(create_error({.version = Version::v0}), ErrorCode::invalid_version);
    EXPECT_TRUE(Machine::create({.version = Version::v0, .fusion = false}));
    EXPECT_EQ(create_error({.version = static_cast<Version>(3)}), ErrorCode::invalid_config);
    EXPECT_EQ(create_error({.backend = "none"}), ErrorCode::backend_unavailable);
    for (const std::uint64_t size :
         {std::uint64_t{0}, std::uint64_t{1}, min_memory_size - 1, min_memory_size + 1,
          min_memory_size + page_size, max_memory_size + memory_size_unit,
          std::numeric_limits<std::uint64_t>::max()})
        EXPECT_EQ(create_error({.memory_size = size}), ErrorCode::invalid_config) << size;
    for (const std::uint64_t size : {min_memory_size, min_memory_size * 3, max_memory_size}) {
        auto machine = Machine::create({.memory_size = size});
        ASSERT_TRUE(machine) << size;
        EXPECT_EQ(machine->memory().size(), size);
        EXPECT_EQ(machine->memory().load<std::uint64_t>(size - 8), 0U);
    }
}

TEST(MachineCreate, names_the_backend_that_was_chosen)
{
    ASSERT_FALSE(backends().empty());
    EXPECT_EQ(Machine::create({})->config().backend, backends().front());
    for (const std::string_view backend : backends())
        EXPECT_EQ(Machine::create({.backend = std::string{backend}})->config().backend, backend);
}

MOPVM_ALL_CONFIGS(MachineTest);

TEST_P(MachineTest, starts_as_the_loader_leaves_it)
{
    Assembler a;
    a.exit(0);
    auto machine = Machine::create(config());
    const auto parsed = Program::from_elf(build(program(a)));
    const std::array<std::string_view, 2> arguments{"name", "x"};
    const auto bytes = machine->load(*parsed, arguments);
    ASSERT_TRUE(bytes);
    EXPECT_EQ(machine->pc(), a.base());
    EXPECT_EQ(machine->cycles(), 0U);
    EXPECT_EQ(machine->program_end(), data_address + 2 * page_size);
    EXPECT_EQ(*bytes, a.code().size() + default_memory_size - machine->reg(sp));
    for (unsigned i = 0; i < 32; ++i)
        EXPECT_EQ(machine->reg(i) != 0, i == sp) << i;
    EXPECT_EQ(machine->memory().load<std::uint32_t>(machine->reg(sp)), 2U);
}

TEST_P(MachineTest, exit_code_is_the_low_byte_of_a0)
{
    for (const int code : {0, 1, 127, 128, 255, 256, -1}) {
        Assembler a;
        a.exit(code);
        const Ran ran = run(a, config());
        expect_exit(ran, static_cast<std::int8_t>(code));
        EXPECT_EQ(ran.exit.pc, a.here());
        EXPECT_EQ(ran.exit.cycles, ran.machine.cycles());
    }
}

TEST_P(MachineTest, cycles_may_be_set_and_added)
{
    Assembler a;
    a.exit(0);
    Machine machine = loaded(a);
    machine.set_max_cycles(100);
    EXPECT_EQ(machine.max_cycles(), 100U);
    EXPECT_TRUE(machine.add_cycles(100));
    EXPECT_EQ(machine.add_cycles(1).error().code, ErrorCode::cycles_exceeded);
    EXPECT_EQ(machine.cycles(), 100U);
    EXPECT_TRUE(machine.add_cycles_no_check(5));
    EXPECT_EQ(machine.cycles(), 105U);
    EXPECT_EQ(machine.add_cycles(~std::uint64_t{0}).error().code, ErrorCode::cycles_overflow);
    EXPECT_EQ(machine.add_cycles_no_check(~std::uint64_t{0}).error().code,
              ErrorCode::cycles_overflow);
    EXPECT_EQ(machine.cycles(), 105U);
}

TEST_P(MachineTest, the_limit_is_exact_and_can_be_raised)
{
    Assembler a;
    a.li(a0, 5);
    a.mul(a0, a0, a0);
    a.exit_with_a0();
    const std::uint64_t total = run(a, config()).exit.cycles;
    ASSERT_EQ(total, 507U);
    for (std::uint64_t limit = 0; limit < total; ++limit) {
        Config limited = config();
        limited.max_cycles = limit;
        Ran ran = run(a, limited);
        expect_error(ran, {.code = ErrorCode::cycles_exceeded});
        EXPECT_LE(ran.exit.cycles, limit);
        EXPECT_EQ(ran.exit.cycles, limit < 1 ? 0U : limit < 6 ? 1U : limit < 7 ? 6U : 7U);
        EXPECT_EQ(ran.exit.pc, a.base() + (limit < 1 ? 0U : limit < 6 ? 4U : limit < 7 ? 8U : 12U));
        ran.machine.set_max_cycles(total);
        const Exit exit = ran.machine.run();
        EXPECT_EQ(exit.exit_code, 25);
        EXPECT_EQ(exit.cycles, total);
    }
}

TEST_P(MachineTest, undecodable_code_is_reported_even_without_cycles)
{
    Assembler a;
    a.addi(a0, a0, 1);
    a.word(0xffffffff);
    Config limited = config();
    limited.max_cycles = 1;
    const Ran ran = run(a, limited);
    expect_error(
        ran, {.code = ErrorCode::invalid_instruction, .bits = 0xffffffff, .address = a.base() + 4});
    EXPECT_EQ(ran.exit.cycles, 1U);
    EXPECT_EQ(ran.reg(a0), 1U);
    limited.max_cycles = 0;
    expect_error(run(a, limited), {.code = ErrorCode::cycles_exceeded});
}

TEST_P(MachineTest, the_cycle_counter_does_not_wrap)
{
    Assembler a;
    a.addi(a0, a0, 1);
    a.addi(a0, a0, 1);
    Machine machine = loaded(a);
    machine.set_max_cycles(~std::uint64_t{0});
    machine.set_cycles(~std::uint64_t{0} - 1);
    const Exit exit = machine.run();
    EXPECT_EQ(exit.error.code, ErrorCode::cycles_overflow);
    EXPECT_EQ(exit.cycles, ~std::uint64_t{0});
    EXPECT_EQ(exit.pc, a.base() + 4);
    EXPECT_EQ(machine.reg(a0), 1U);
}

TEST_P(MachineTest, a_fault_changes_nothing_but_cycles)
{
    Assembler a;
    a.li(a1, default_memory_size);
    const std::uint64_t before = a.here();
    a.ld(a0, 0, a1);
    a.exit(0);
    Machine machine = loaded(a);
    const Exit exit = machine.run();
    EXPECT_EQ(exit.error,
              (Error{.code = ErrorCode::mem_out_of_bound, .address = default_memory_size}));
    EXPECT_EQ(exit.pc, before);
    EXPECT_EQ(exit.cycles, (before - a.base()) / 4 + 2);
    EXPECT_EQ(machine.reg(a0), 0U);
    // The same again: the operation stands where it stood.
    EXPECT_EQ(machine.run().pc, before);
}

TEST_P(MachineTest, steps_are_single_operations)
{
    Assembler a;
    a.lui(a0, 1);
    a.addiw(a0, a0, 1);
    a.exit_with_a0();
    Machine machine = loaded(a);
    EXPECT_FALSE(machine.step());
    EXPECT_EQ(machine.pc(), a.base() + (config().fusion ? 8 : 4));
    EXPECT_EQ(machine.cycles(), 1U);
    std::optional<Exit> exit;
    while (!exit)
        exit = machine.step();
    EXPECT_EQ(exit->exit_code, 1);
    EXPECT_EQ(*exit, loaded(a).run());
}

TEST_P(MachineTest, counts_what_was_executed)
{
    Assembler a;
    a.lui(a0, 1);
    a.addiw(a0, a0, 1);
    a.exit(0);
    Config counting = config();
    counting.count_operations = true;
    Machine machine = loaded(a, {}, counting);
    ASSERT_EQ(machine.run().exit_code, 0);
    EXPECT_EQ(machine.stats().operations, config().fusion ? 4U : 5U);
    EXPECT_EQ(machine.stats().instructions, 5U);
    EXPECT_EQ(machine.stats().fused[static_cast<std::size_t>(FusionRule::load_const_lui)],
              config().fusion ? 1U : 0U);
    EXPECT_EQ(run(a, config()).machine.stats(), Stats{});
    // What faults or does not fit is not counted.
    Assembler faults;
    faults.ld(a0, -8, zero);
    counting.max_cycles = 2;
    EXPECT_EQ(loaded(faults, {}, counting).run().error.code, ErrorCode::mem_out_of_bound);
    Machine faulted = loaded(faults, {}, counting);
    static_cast<void>(faulted.run());
    EXPECT_EQ(faulted.stats(), Stats{});
}

TEST_P(MachineTest, pauses_before_anything_happens)
{
    Assembler a;
    a.exit(0);
    Machine machine = loaded(a);
    machine.pause_handle().request();
    const Exit paused = machine.run();
    EXPECT_EQ(paused.reason, Exit::Reason::paused);
    EXPECT_EQ(paused.pc, a.base());
    EXPECT_EQ(paused.cycles, 0U);
    machine.pause_handle().request();
    EXPECT_EQ(machine.step()->reason, Exit::Reason::paused);
    EXPECT_EQ(machine.run().exit_code, 0);
}

TEST_P(MachineTest, another_thread_pauses_an_endless_loop)
{
    Assembler a;
    a.jal(zero, 0);
    Config endless = config();
    endless.max_cycles = ~std::uint64_t{0};
    Machine machine = loaded(a, {}, endless);
    const std::jthread other{[handle = machine.pause_handle()] { handle.request(); }};
    const Exit exit = machine.run();
    EXPECT_EQ(exit.reason, Exit::Reason::paused);
    EXPECT_EQ(exit.pc, a.base());
}

TEST_P(MachineTest, registers_are_checked)
{
    auto machine = Machine::create(config());
    machine->set_reg(0, 5);
    machine->set_reg(32, 5);
    machine->set_reg(31, 6);
    EXPECT_EQ(machine->reg(0), 0U);
    EXPECT_EQ(machine->reg(31), 6U);
    EXPECT_EQ(machine->reg(32), 0U);
    EXPECT_EQ(machine->registers()[31], 6U);
    EXPECT_EQ(machine->add_syscalls(nullptr).error().code, ErrorCode::invalid_config);
}

TEST_P(MachineTest, load_errors_leave_registers_and_pc_zero)
{
    Assembler a;
    a.exit(0);
    const Program parsed = *Program::from_elf(build(program(a)));
    auto machine = Machine::create(config());
    const auto refuses = std::make_shared<Handler>(
        [](Machine&) { return SyscallAnswer::not_mine(); },
        [](Machine& m) -> Result<void> {
            m.set_reg(5, 5);
            return std::unexpected{Error{.code = ErrorCode::external, .text = "no"}};
        });
    ASSERT_TRUE(machine->add_syscalls(refuses));
    EXPECT_EQ(machine->load(parsed).error().code, ErrorCode::external);
    EXPECT_EQ(machine->pc(), 0U);
    EXPECT_EQ(machine->reg(5), 0U);

    auto small = Machine::create(config());
    const std::string large(default_memory_size / 4 + 1, 'x');
    const std::array<std::string_view, 1> arguments{large};
    EXPECT_EQ(small->load(parsed, arguments).error().code, ErrorCode::mem_out_of_stack);
    EXPECT_EQ(small->pc(), 0U);
    EXPECT_EQ(small->reg(sp), 0U);
}

TEST_P(MachineTest, reset_makes_it_fresh)
{
    Assembler a;
    a.li(t0, data_address);
    a.sd(t0, 0, t0);
    a.exit(0);
    Config counting = config();
    counting.count_operations = true;
    Machine machine = loaded(a, {}, counting);
    const Exit first = machine.run();
    const Stats stats = machine.stats();
    ASSERT_TRUE(machine.reset(1'000'000));
    EXPECT_EQ(machine.pc(), 0U);
    EXPECT_EQ(machine.cycles(), 0U);
    EXPECT_EQ(machine.max_cycles(), 1'000'000U);
    EXPECT_EQ(machine.reg(t0), 0U);
    EXPECT_EQ(machine.stats(), Stats{});
    EXPECT_EQ(machine.program_end(), 0U);
    EXPECT_EQ(machine.memory().load<std::uint64_t>(data_address), 0U);
    EXPECT_EQ(machine.memory().flags(a.base() / page_size), 0U);
    EXPECT_EQ(machine.run().error.code, ErrorCode::mem_write_on_executable_page);
    ASSERT_TRUE(machine.load(*Program::from_elf(build(program(a)))));
    EXPECT_EQ(machine.run(), first);
    EXPECT_EQ(machine.stats(), stats);
}

TEST_P(MachineTest, a_second_program_beside_the_first)
{
    // Both stay loaded when their pages do not overlap; the code of the first is still there.
    Assembler first;
    first.exit(1);
    Assembler second{0x90000};
    second.exit(2);
    ElfFile file = program(second);
    file.segments.pop_back();
    Machine machine = loaded(first);
    ASSERT_TRUE(machine.load(*Program::from_elf(build(file))));
    EXPECT_EQ(machine.run().exit_code, 2);
    machine.set_pc(first.base());
    EXPECT_EQ(machine.run().exit_code, 1);
}

TEST_P(MachineTest, runs_on_behind_the_exit)
{
    Assembler a;
    a.exit(1);
    a.exit(2);
    Machine machine = loaded(a);
    EXPECT_EQ(machine.run().exit_code, 1);
    EXPECT_EQ(machine.run().exit_code, 2);
}

TEST_P(MachineTest, may_be_moved)
{
    Machine first = loaded(one_call(), {answers(SyscallAnswer::handled())});
    Machine second = std::move(first);
    EXPECT_EQ(second.run().reason, Exit::Reason::exited);
    Machine third = loaded(one_call());
    third = std::move(second);
    EXPECT_EQ(third.cycles(), 1002U);
}

TEST_P(MachineTest, an_odd_entry_runs_at_odd_addresses)
{
    Assembler a{0x10001};
    const auto back = a.bound_label();
    a.addi(s0, s0, 1);
    a.li(t0, 3);
    a.bne(s0, t0, back);
    a.exit(4);
    ElfFile file = program(a);
    file.segments[0].vaddr = 0x10000;
    file.segments[0].bytes.insert(file.segments[0].bytes.begin(), std::byte{0});
    expect_exit(run(file, config()), 4);
}
}  // namespace
