// SPDX-License-Identifier: MIT
// Whole runs: an engine, the machine step by step, and the model end alike.

#include "differential/session.hpp"

#include <gtest/gtest.h>

namespace mopvm::test
{
namespace
{
class Run : public OnEveryBackend
{};

/// The widest of all tests: versions and instruction sets make nine programs of each of these
/// seeds, 22,500 on each engine.
constexpr std::uint64_t most_seeds = 2'500;

TEST_P(Run, stops_wherever_the_model_stops)
{
    for_each_case(GetParam(), most_seeds, 60, [](const Case& made) {
        auto machine = made.machine();
        if (!machine)
            return;
        ModelMachine model{*machine, made.calls};
        for (bool ended = false; !ended;) {
            const Exit wanted = model.run();
            const Exit got = machine->run();
            ASSERT_TRUE(same(capture(model, wanted), capture(*machine, got), made, "run()"));
            ended = is_final(wanted);
        }
        EXPECT_TRUE(clean_pages_are_zero(*machine)) << made.name();
    });
}

TEST_P(Run, equals_steps)
{
    for_each_case(GetParam(), 60, 60, [](const Case& made) {
        auto machine = made.machine();
        auto stepped = made.machine();
        if (!machine)
            return;
        const Exit wanted = run_to_end(*machine);
        std::optional<Exit> got;
        while (!got || !is_final(*got))
            got = stepped->step();
        EXPECT_TRUE(same(capture(*machine, wanted), capture(*stepped, got), made,
                         "want run(), got step()"));
    });
}

TEST_P(Run, leaves_the_model_with_no_single_step)
{
    for_each_case(GetParam(), 20, 60, [](const Case& made) {
        auto machine = made.machine(1'000);
        if (!machine)
            return;
        ModelMachine model{*machine, made.calls};
        for (bool ended = false; !ended && !testing::Test::HasFailure();) {
            const auto wanted = model.step();
            const auto got = machine->step();
            EXPECT_TRUE(same(capture(model, wanted), capture(*machine, got), made, "step()"));
            ended = wanted && is_final(*wanted);
        }
    });
}

TEST_P(Run, is_the_same_uncounted)
{
    for_each_case(GetParam(), 60, 60, [](const Case& made) {
        Config config = made.config(some_limit);
        auto counted = made.machine(config);
        config.count_operations = false;
        auto uncounted = made.machine(config);
        if (!counted)
            return;
        StateDump wanted = capture(*counted, run_to_end(*counted));
        wanted.stats = {};
        EXPECT_TRUE(same(wanted, capture(*uncounted, run_to_end(*uncounted)), made, "uncounted"));
    });
}

TEST_P(Run, is_the_same_under_other_prices)
{
    for_each_case(GetParam(), 30, 60, [](const Case& made) {
        for (const CostModel& prices :
             {CostModel::constant(), CostModel::standard().with("addi", 4'000'000'000).value()})
        {
            Config config = made.config(some_limit);
            config.cost_model = prices;
            auto machine = made.machine(config);
            if (!machine)
                return;
            ModelMachine model{*machine, made.calls};
            const Exit wanted = run_to_end(model);
            EXPECT_TRUE(same(capture(model, wanted), capture(*machine, run_to_end(*machine)), made,
                             "with other prices"));
        }
    });
}

TEST_P(Run, overflows_the_cycle_counter_where_the_model_does)
{
    for_each_case(GetParam(), 20, 40, [](const Case& made) {
        constexpr std::uint64_t most = ~std::uint64_t{0};
        auto machine = made.machine(most);
        if (!machine)
            return;
        machine->set_cycles(most - 5 - made.seed % 700);
        ModelMachine model{*machine, made.calls};
        const Exit wanted = run_to_end(model);
        EXPECT_TRUE(same(capture(model, wanted), capture(*machine, run_to_end(*machine)), made,
                         "near the end of the counter"));
    });
}

INSTANTIATE_TEST_SUITE_P(All, Run, testing::ValuesIn(backend_names()), parameter_name);
}  // namespace
}  // namespace mopvm::test
