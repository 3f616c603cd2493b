// SPDX-License-Identifier: MIT
// The machine: system call handlers and the debugger's hook.

#include "unit/machine_fixture.hpp"

#include <limits>
#include <string>

namespace
{
using namespace mopvm;
using namespace mopvm::test;

class Breakpoints final : public Debugger
{
public:
    Result<void> initialize(Machine&) noexcept override
    {
        ++initialized;
        return {};
    }
    Result<void> ebreak(Machine& machine) noexcept override
    {
        seen.push_back(machine.pc());
        if (fail)
            return std::unexpected{Error{.code = ErrorCode::unexpected, .text = "no"}};
        return {};
    }
    int initialized = 0;
    bool fail = false;
    std::vector<std::uint64_t> seen;
};

class MachineSyscalls : public MachineTest
{};
MOPVM_ALL_CONFIGS(MachineSyscalls);

TEST_P(MachineSyscalls, number_93_cannot_be_taken_over)
{
    Assembler a;
    a.exit(3);
    Machine machine = loaded(a, {answers(SyscallAnswer::exit(9))});
    EXPECT_EQ(machine.run().exit_code, 3);
}

TEST_P(MachineSyscalls, unknown_calls_are_errors_behind_the_ecall)
{
    const Exit exit = call({answers(SyscallAnswer::not_mine())});
    EXPECT_EQ(exit.error, (Error{.code = ErrorCode::invalid_ecall, .address = 7}));
    EXPECT_EQ(exit.pc, 0x10008U);
    EXPECT_EQ(exit.cycles, 501U);
    // The whole register counts.
    Assembler a;
    a.li(a7, (std::uint64_t{1} << 32) + 93);
    a.ecall();
    expect_error(run(a, config()),
                 {.code = ErrorCode::invalid_ecall, .address = (std::uint64_t{1} << 32) + 93});
}

TEST_P(MachineSyscalls, handlers_are_asked_in_order_until_one_answers)
{
    std::string order;
    const auto say = [&](char who, SyscallAnswer answer) {
        return std::make_shared<Handler>(
            [&order, who, answer](Machine&) {
                order += who;
                return answer;
            },
            [&order, who](Machine&) -> Result<void> {
                order += static_cast<char>(who - 'a' + 'A');
                return {};
            });
    };
    const Exit exit = call({say('a', SyscallAnswer::not_mine()), say('b', SyscallAnswer::handled()),
                            say('c', SyscallAnswer::exit(1))});
    EXPECT_EQ(order, "ABCab");
    EXPECT_EQ(exit.exit_code, 0);
}

TEST_P(MachineSyscalls, a_handler_sees_the_state_behind_the_ecall)
{
    std::uint64_t pc = 0, cycles = 0;
    const auto look = std::make_shared<Handler>([&](Machine& machine) {
        pc = machine.pc();
        cycles = machine.cycles();
        machine.set_reg(a0, 42);
        return SyscallAnswer::handled();
    });
    EXPECT_EQ(call({look}).exit_code, 42);
    EXPECT_EQ(pc, 0x10008U);
    EXPECT_EQ(cycles, 501U);
}

TEST_P(MachineSyscalls, answers_end_or_interrupt_the_run)
{
    EXPECT_EQ(call({answers(SyscallAnswer::exit(-3))}).exit_code, -3);
    for (const auto& [answer, reason] : {std::pair{SyscallAnswer::pause(), Exit::Reason::paused},
                                         std::pair{SyscallAnswer::yield(), Exit::Reason::yielded}})
    {
        Machine machine = loaded(one_call(), {answers(answer)});
        const Exit exit = machine.run();
        EXPECT_EQ(exit.reason, reason);
        EXPECT_EQ(exit.pc, 0x10008U);
        EXPECT_EQ(name(machine.run().reason), "exited");
    }
    const auto refuses = std::make_shared<Handler>([](Machine&) -> Result<SyscallAnswer> {
        return std::unexpected{Error{.code = ErrorCode::external, .text = "refused"}};
    });
    const Exit exit = call({refuses});
    EXPECT_EQ(exit.error, (Error{.code = ErrorCode::external, .text = "refused"}));
    EXPECT_EQ(exit.pc, 0x10008U);
    EXPECT_EQ(exit.cycles, 501U);
}

TEST_P(MachineSyscalls, charges_of_handlers_count_against_the_limit)
{
    const auto charge = [&](std::uint64_t cycles) {
        return std::make_shared<Handler>([cycles](Machine& machine) -> Result<SyscallAnswer> {
            if (auto charged = machine.add_cycles_no_check(cycles); !charged)
                return std::unexpected{charged.error()};
            return SyscallAnswer::handled();
        });
    };
    Config limited = config();
    limited.max_cycles = 501 + 501 + 501;
    EXPECT_EQ(loaded(one_call(), {charge(501)}, limited).run().reason, Exit::Reason::exited);
    EXPECT_EQ(loaded(one_call(), {charge(502)}, limited).run().error.code,
              ErrorCode::cycles_exceeded);
    limited.max_cycles = 1001;
    const Exit exit = loaded(one_call(), {charge(501)}, limited).run();
    EXPECT_EQ(exit.error.code, ErrorCode::cycles_exceeded);
    EXPECT_EQ(exit.pc, 0x10008U);
    EXPECT_EQ(exit.cycles, 1002U);
    EXPECT_EQ(call({charge(std::numeric_limits<std::uint64_t>::max())}).error.code,
              ErrorCode::cycles_overflow);
}

TEST_P(MachineSyscalls, charges_of_handlers_may_reach_the_limit)
{
    // What follows costs nothing, so the limit alone could end the run.
    const auto charge = std::make_shared<Handler>([](Machine& machine) -> Result<SyscallAnswer> {
        if (auto charged = machine.add_cycles_no_check(100); !charged)
            return std::unexpected{charged.error()};
        return SyscallAnswer::handled();
    });
    Config limited = config();
    limited.cost_model = CostModel::zero();
    limited.max_cycles = 100;
    const Exit exit = loaded(one_call(), {charge}, limited).run();
    EXPECT_EQ(name(exit.reason), "exited") << message(exit.error);
    EXPECT_EQ(exit.cycles, 100U);
    limited.max_cycles = 99;
    EXPECT_EQ(loaded(one_call(), {charge}, limited).run().error.code, ErrorCode::cycles_exceeded);
}

TEST_P(MachineSyscalls, breakpoints_do_nothing_without_a_debugger)
{
    Assembler a;
    a.ebreak();
    a.exit(0);
    const Ran ran = run(a, config());
    expect_exit(ran, 0);
    EXPECT_EQ(ran.exit.cycles, 1002U);

    const auto debugger = std::make_shared<Breakpoints>();
    auto machine = Machine::create(config());
    machine->set_debugger(debugger);
    ASSERT_TRUE(machine->load(*Program::from_elf(build(program(a)))));
    EXPECT_EQ(debugger->initialized, 1);
    EXPECT_EQ(machine->run().exit_code, 0);
    EXPECT_EQ(debugger->seen, std::vector{a.base() + 4});
    debugger->fail = true;
    machine->set_pc(a.base());
    const Exit exit = machine->run();
    EXPECT_EQ(exit.error, (Error{.code = ErrorCode::unexpected, .text = "no"}));
    EXPECT_EQ(exit.pc, a.base() + 4);
}

TEST_P(MachineSyscalls, a_handler_may_replace_the_program)
{
    Assembler second;
    second.nop();
    second.exit(8);
    const Program replacement = *Program::from_elf(build(program(second)));
    const auto exec = std::make_shared<Handler>([&](Machine& machine) -> Result<SyscallAnswer> {
        const std::uint64_t cycles = machine.cycles();
        if (auto reset = machine.reset(machine.max_cycles()); !reset)
            return std::unexpected{reset.error()};
        machine.set_cycles(cycles);
        if (auto loaded = machine.load(replacement); !loaded)
            return std::unexpected{loaded.error()};
        return SyscallAnswer::handled();
    });
    const Exit exit = call({exec});
    EXPECT_EQ(exit.exit_code, 8);
    EXPECT_EQ(exit.cycles, 501U + 503U);
}

TEST_P(MachineSyscalls, a_handler_may_add_code)
{
    constexpr std::uint64_t added = 0x80000;
    Assembler code{added};
    code.exit(6);
    const auto bytes = code.code();
    const auto load_code =
        std::make_shared<Handler>([&](Machine& machine) -> Result<SyscallAnswer> {
            if (auto mapped = machine.memory().init_pages(
                    added, page_size, page_flag::executable | page_flag::frozen, bytes, 0);
                !mapped)
                return std::unexpected{mapped.error()};
            return SyscallAnswer::handled();
        });
    Assembler a;
    a.li(a7, 7);
    a.ecall();
    a.li(t0, added);
    a.jalr(zero, 0, t0);
    const Program parsed = *Program::from_elf(build(program(a)));
    auto machine = Machine::create(config());
    ASSERT_TRUE(machine->add_syscalls(load_code));
    ASSERT_TRUE(machine->load(parsed));
    EXPECT_EQ(machine->run().exit_code, 6);
    // The code belongs to that machine alone.
    auto other = Machine::create(config());
    ASSERT_TRUE(other->add_syscalls(answers(SyscallAnswer::handled())));
    ASSERT_TRUE(other->load(parsed));
    EXPECT_EQ(other->run().error, (Error{.code = ErrorCode::mem_write_on_executable_page,
                                         .address = added / page_size}));
}
}  // namespace
