// SPDX-License-Identifier: MIT
// Fusion on and off: the same results, for no more cycles.

#include "differential/session.hpp"

#include <gtest/gtest.h>

#include <numeric>

namespace mopvm::test
{
namespace
{
/// A run without a limit that could cut one side and not the other.
constexpr std::uint64_t high_limit = 20'000;

class Fusion : public OnEveryBackend
{};

TEST_P(Fusion, changes_cycles_alone)
{
    std::uint64_t compared = 0;
    std::uint64_t fused_operations = 0;
    for_each_case(GetParam(), 200, 60, [&](const Case& generated) {
        if (!generated.variant.fusion)
            return;
        Case made = generated;
        made.calls.cycles_visible = false;
        auto fused = made.machine(high_limit);
        Config config = made.config(high_limit);
        config.fusion = false;
        auto plain = made.machine(config);
        if (!fused)
            return;

        ModelMachine model{*fused, made.calls};
        const Exit model_exit = run_to_end(model);
        // Where a listed exception was executed, results may differ; that the run is the model's
        // is for other tests.
        if (model.met_exception() || model_exit.error.code == ErrorCode::cycles_exceeded)
            return;

        StateDump wanted = capture(*plain, run_to_end(*plain));
        StateDump got = capture(*fused, run_to_end(*fused));
        EXPECT_LE(got.cycles, wanted.cycles) << made.name();
        EXPECT_EQ(got.stats.instructions, wanted.stats.instructions) << made.name();
        const auto of_rules =
            std::accumulate(got.stats.fused.begin(), got.stats.fused.end(), std::uint64_t{0});
        ++compared;
        fused_operations += of_rules;
        for (StateDump* dump : {&wanted, &got}) {
            dump->cycles = 0;
            dump->exit->cycles = 0;
            dump->stats = {};
        }
        EXPECT_TRUE(same(wanted, got, made, "want fusion off, got fusion on"));
    });
    // The programs are worth their time: most reach sequences.
    if (!session_options().programs) {
        EXPECT_GT(compared, 200U);
        EXPECT_GT(fused_operations, compared);
    }
}

TEST(RandomPrograms, reach_every_rule)
{
    Stats all;
    const SessionOptions& options = session_options();
    for (std::uint64_t i = 0; i < 300; ++i) {
        const Case made =
            make_case(options.seed + i,
                      {.version = Version::v2, .b = true, .a = true, .fusion = true}, "auto", 60);
        auto machine = made.machine();
        static_cast<void>(run_to_end(*machine));
        for (std::size_t rule = 0; rule < fusion_rule_count; ++rule)
            all.fused[rule] += machine->stats().fused[rule];
    }
    for (std::size_t rule = 0; rule < fusion_rule_count; ++rule)
        EXPECT_GT(all.fused[rule], 0U) << name(static_cast<FusionRule>(rule));
}

TEST(RandomPrograms, end_in_every_way)
{
    std::array<bool, 256> seen{};
    std::uint64_t operations = 0;
    const SessionOptions& options = session_options();
    constexpr std::uint64_t programs = 400;
    for (std::uint64_t i = 0; i < programs; ++i) {
        const Case made =
            make_case(options.seed + i,
                      {.version = Version::v2, .b = true, .a = true, .fusion = false}, "auto", 60);
        auto machine = made.machine();
        const Exit exit = run_to_end(*machine);
        operations += machine->stats().operations;
        seen[exit.reason == Exit::Reason::exited ? 255
                                                 : static_cast<std::size_t>(exit.error.code)] =
            true;
    }
    for (const ErrorCode code : {ErrorCode::cycles_exceeded, ErrorCode::invalid_instruction,
                                 ErrorCode::invalid_ecall, ErrorCode::mem_out_of_bound,
                                 ErrorCode::mem_write_on_executable_page, ErrorCode::external})
        EXPECT_TRUE(seen[static_cast<std::size_t>(code)]) << name(code);
    EXPECT_TRUE(seen[255]) << "exit";
    EXPECT_GT(operations, programs * 20) << "programs die too early to test much";
}

INSTANTIATE_TEST_SUITE_P(All, Fusion, testing::ValuesIn(backend_names()), parameter_name);
}  // namespace
}  // namespace mopvm::test
