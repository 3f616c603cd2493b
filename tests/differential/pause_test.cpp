// SPDX-License-Identifier: MIT
// Pauses from other threads and from handlers: they stop a run and change nothing of it.

#include "differential/session.hpp"
#include "support/assembler.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <latch>
#include <thread>

namespace mopvm::test
{
namespace
{
class Pause : public OnEveryBackend
{};

TEST_P(Pause, from_another_thread_changes_no_result)
{
    std::uint64_t paused = 0;
    for_each_case(GetParam(), 6, 60, [&](const Case& made) {
        auto machine = made.machine(100'000);
        if (!machine)
            return;
        ModelMachine model{*machine, made.calls};
        const Exit wanted = run_to_end(model);
        Exit got;
        {
            const PauseHandle handle = machine->pause_handle();
            std::latch requested{1};
            const std::jthread pauser{[&](const std::stop_token& stop) {
                handle.request();
                requested.count_down();
                while (!stop.stop_requested()) {
                    handle.request();
                    std::this_thread::yield();
                }
            }};
            requested.wait();
            do {
                got = machine->run();
                paused += got.reason == Exit::Reason::paused ? 1 : 0;
            } while (!is_final(got));
        }
        EXPECT_TRUE(same(capture(model, wanted), capture(*machine, got), made, "while paused"));
    });
    EXPECT_GT(paused, 0U);
}

TEST_P(Pause, requested_beforehand_executes_nothing)
{
    for_each_case(GetParam(), 10, 40, [](const Case& made) {
        auto machine = made.machine();
        if (!machine)
            return;
        const StateDump start = capture(*machine, std::nullopt);
        ModelMachine model{*machine, made.calls};
        machine->pause_handle().request();
        const Exit paused = machine->run();
        EXPECT_EQ(paused.reason, Exit::Reason::paused);
        EXPECT_EQ(paused.pc, made.program.code_begin);
        EXPECT_TRUE(same(start, capture(*machine, std::nullopt), made, "before the first step"));

        machine->pause_handle().request();
        const auto stepped = machine->step();
        EXPECT_TRUE(stepped && stepped->reason == Exit::Reason::paused);
        EXPECT_TRUE(same(start, capture(*machine, std::nullopt), made, "instead of a step"));

        const Exit wanted = run_to_end(model);
        EXPECT_TRUE(same(capture(model, wanted), capture(*machine, run_to_end(*machine)), made,
                         "after two pauses"));
    });
}

TEST_P(Pause, once_honoured_is_gone)
{
    Assembler as;
    as.exit(3);
    const auto program = Program::from_elf(build({.segments = {{.bytes = as.code()}}}));
    auto machine = Machine::create({.backend = GetParam()});
    ASSERT_TRUE(machine && machine->load(*program));
    const PauseHandle handle = machine->pause_handle();
    handle.request();
    handle.request();
    EXPECT_EQ(machine->run().reason, Exit::Reason::paused);
    EXPECT_EQ(machine->run().exit_code, 3);
}

/// Loops that only a pause can end, by the ways in which control can go back.
std::vector<std::pair<const char*, std::function<void(Assembler&)>>> endless_loops()
{
    return {
        {"jump to itself", [](Assembler& as) { as.jal(zero, 0); }},
        {"branch to itself", [](Assembler& as) { as.beq(zero, zero, 0); }},
        {"compressed jump to itself", [](Assembler& as) { as.half(0xa001); }},
        {"indirect jump to itself",
         [](Assembler& as) {
             as.jal(ra, 4);
             as.jalr(zero, 0, ra);
         }},
        {"far jump to itself",
         [](Assembler& as) {
             as.auipc(ra, 0);
             as.jalr(ra, 0, ra);
         }},
        {"a longer loop",
         [](Assembler& as) {
             const auto again = as.bound_label();
             as.addi(a0, a0, 1);
             as.ebreak();
             as.sd(a0, -64, sp);
             as.j(again);
         }},
    };
}

TEST_P(Pause, ends_every_endless_loop)
{
    using namespace std::chrono_literals;
    for (const auto& [name, write] : endless_loops())
        for (const bool fusion : {false, true}) {
            SCOPED_TRACE(name);
            Assembler as;
            write(as);
            const auto program = Program::from_elf(build({.segments = {{.bytes = as.code()}}}));
            auto machine = Machine::create({.fusion = fusion, .backend = GetParam()});
            ASSERT_TRUE(machine && machine->load(*program));
            Exit exit;
            {
                const std::jthread pauser{[handle = machine->pause_handle()] {
                    std::this_thread::sleep_for(2ms);
                    handle.request();
                }};
                exit = machine->run();
            }
            EXPECT_EQ(exit.reason, Exit::Reason::paused);
            EXPECT_GE(exit.pc, as.base());
            EXPECT_LT(exit.pc, as.here());
        }
}

INSTANTIATE_TEST_SUITE_P(All, Pause, testing::ValuesIn(backend_names()), parameter_name);
}  // namespace
}  // namespace mopvm::test
