// SPDX-License-Identifier: MIT
// Cycle limits: wherever a run is cut, it stands where the model stands, and goes on as if uncut.

#include "differential/session.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

namespace mopvm::test
{
namespace
{
/// Longer programs are cut at random places only.
constexpr std::uint64_t most_cuts = 1'500;

bool hit_limit(const Exit& exit)
{
    return exit.reason == Exit::Reason::error && exit.error.code == ErrorCode::cycles_exceeded;
}

class Limit : public OnEveryBackend
{};

TEST_P(Limit, cuts_a_fresh_run_anywhere)
{
    for_each_case(GetParam(), 12, 16, [](const Case& made) {
        auto whole = made.machine(most_cuts);
        if (!whole)
            return;
        const StateDump end = capture(*whole, run_to_end(*whole));
        for (std::uint64_t limit = 0; limit <= std::min(most_cuts, end.cycles); ++limit) {
            auto machine = made.machine(limit);
            ModelMachine model{*machine, made.calls};
            const Exit wanted = run_to_end(model);
            ASSERT_TRUE(same(capture(model, wanted), capture(*machine, run_to_end(*machine)), made,
                             "with limit " + std::to_string(limit)));
            if (!hit_limit(wanted))
                break;
            machine->set_max_cycles(most_cuts);
            ASSERT_TRUE(same(end, capture(*machine, run_to_end(*machine)), made,
                             "went on after limit " + std::to_string(limit)));
        }
    });
}

TEST_P(Limit, raised_by_one_at_a_time_changes_nothing)
{
    for_each_case(GetParam(), 15, 24, [](const Case& made) {
        auto machine = made.machine(0);
        if (!machine)
            return;
        ModelMachine model{*machine, made.calls};
        for (std::uint64_t limit = 0; limit < most_cuts; ++limit) {
            machine->set_max_cycles(limit);
            model.set_max_cycles(limit);
            const Exit wanted = run_to_end(model);
            ASSERT_TRUE(same(capture(model, wanted), capture(*machine, run_to_end(*machine)), made,
                             "creeping to limit " + std::to_string(limit)));
            if (!hit_limit(wanted))
                break;
        }
    });
}

TEST_P(Limit, raised_at_random_changes_nothing)
{
    for_each_case(GetParam(), 60, 150, [](const Case& made) {
        auto machine = made.machine(0);
        if (!machine)
            return;
        ModelMachine model{*machine, made.calls};
        Choices choices{made.seed};
        for (std::uint64_t limit = 0; limit < some_limit; limit += choices.below(90)) {
            machine->set_max_cycles(limit);
            model.set_max_cycles(limit);
            const Exit wanted = run_to_end(model);
            ASSERT_TRUE(same(capture(model, wanted), capture(*machine, run_to_end(*machine)), made,
                             "sliced at limit " + std::to_string(limit)));
            if (!hit_limit(wanted))
                break;
        }
    });
}

INSTANTIATE_TEST_SUITE_P(All, Limit, testing::ValuesIn(backend_names()), parameter_name);
}  // namespace
}  // namespace mopvm::test
