// SPDX-License-Identifier: MIT
// Machines that share one program's decoded code, after one another and at once.

#include "differential/session.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <barrier>
#include <thread>

namespace mopvm::test
{
namespace
{
/// The same case with decoded code of its own.
Case cold(const Case& made)
{
    Case copy = made;
    copy.loaded = Program::from_elf(made.program.elf).value();
    return copy;
}

/// Runs @p made in ways that leave its shared code warm at unusual places.
void warm_up(const Case& made)
{
    Choices choices{made.seed ^ 0x5a5a};
    for (int i = 0; i < 6; ++i) {
        Config config = made.config(choices.below(400));
        config.memory_size += memory_size_unit * choices.below(3);
        auto machine = made.machine(config);
        if (!machine)
            return;
        const std::uint64_t code_bytes = made.program.code_end - made.program.code_begin;
        machine->set_pc(made.program.code_begin + choices.below(code_bytes));
        for (unsigned reg = 10; reg < 20; ++reg)
            machine->set_reg(reg, choices.bits64());
        static_cast<void>(run_to_end(*machine));
    }
}

class Sharing : public OnEveryBackend
{};

TEST_P(Sharing, warm_code_changes_nothing)
{
    for_each_case(GetParam(), 60, 60, [](const Case& made) {
        const Case fresh = cold(made);
        auto lonely = fresh.machine();
        if (!lonely)
            return;
        const StateDump wanted = capture(*lonely, run_to_end(*lonely));
        warm_up(made);
        auto machine = made.machine();
        EXPECT_TRUE(same(wanted, capture(*machine, run_to_end(*machine)), made, "on warm code"));
    });
}

TEST_P(Sharing, arguments_and_memory_size_stay_with_their_machine)
{
    for_each_case(GetParam(), 15, 40, [](const Case& made) {
        static constexpr std::array<std::string_view, 2> words{"one", "two"};
        warm_up(made);
        std::array<StateDump, 2> dumps;
        const std::array<Case, 2> cases{cold(made), made};
        for (std::size_t i = 0; i < cases.size(); ++i) {
            Config config = made.config(some_limit);
            config.memory_size = 2 * memory_size_unit;
            auto machine = cases[i].machine(config);
            ASSERT_TRUE(machine && machine->reset(some_limit));
            ASSERT_TRUE(machine->load(cases[i].loaded, words));
            dumps[i] = capture(*machine, run_to_end(*machine));
        }
        EXPECT_TRUE(same(dumps[0], dumps[1], made, "with arguments and more memory"));
    });
}

TEST_P(Sharing, a_reset_machine_is_a_fresh_one)
{
    for_each_case(GetParam(), 15, 40, [](const Case& made) {
        auto machine = made.machine();
        if (!machine)
            return;
        const StateDump wanted = capture(*machine, run_to_end(*machine));
        ASSERT_TRUE(machine->reset(some_limit));
        ASSERT_TRUE(machine->load(made.loaded));
        for (unsigned i = 1; i < isa::register_count; ++i)
            machine->set_reg(i, made.program.registers[i]);
        EXPECT_TRUE(same(wanted, capture(*machine, run_to_end(*machine)), made, "after a reset"));
    });
}

TEST_P(Sharing, threads_do_not_see_one_another)
{
    constexpr std::size_t thread_count = 4;
    for_each_case(GetParam(), 6, 60, [](const Case& made) {
        const Case fresh = cold(made);
        auto lonely = fresh.machine();
        if (!lonely)
            return;
        const StateDump wanted = capture(*lonely, run_to_end(*lonely));
        std::array<StateDump, thread_count> dumps;
        {
            std::barrier all_ready{static_cast<std::ptrdiff_t>(thread_count)};
            std::vector<std::jthread> threads;
            for (StateDump& dump : dumps)
                threads.emplace_back([&] {
                    auto machine = made.machine();
                    all_ready.arrive_and_wait();
                    dump = capture(*machine, run_to_end(*machine));
                });
        }
        for (const StateDump& dump : dumps)
            EXPECT_TRUE(same(wanted, dump, made, "beside other threads"));
    });
}

INSTANTIATE_TEST_SUITE_P(All, Sharing, testing::ValuesIn(backend_names()), parameter_name);
}  // namespace
}  // namespace mopvm::test
