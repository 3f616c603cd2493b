// SPDX-License-Identifier: MIT
// Where two runs differ: no program can make correct engines do so, hence not tested by the
// command.

#include "ending.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace mopvm::tool
{
namespace
{
[[nodiscard]] Ending exited()
{
    Ending ending{.exit = {.exit_code = 3, .pc = 0x10010, .cycles = 500}};
    ending.outputs[0] = {.kept = "out", .written = 3};
    ending.outputs[1] = {.kept = "err", .written = 3};
    return ending;
}

[[nodiscard]] Ending failed(Error error)
{
    auto ending = exited();
    ending.exit.reason = Exit::Reason::error;
    ending.exit.exit_code = 0;
    ending.exit.error = std::move(error);
    return ending;
}

/// A change of an ending, and what is to be said about it.
struct Change
{
    std::function<void(Ending&)> make;
    std::string said;
};

TEST(Ending, equal_endings_do_not_differ)
{
    EXPECT_EQ(visible_difference(exited(), exited()), "");
    EXPECT_EQ(difference(exited(), exited()), "");
    const Error error{.code = ErrorCode::mem_out_of_bound, .address = 5};
    EXPECT_EQ(difference(failed(error), failed(error)), "");
}

TEST(Ending, what_a_user_sees_is_a_difference)
{
    const std::vector<Change> changes{
        {[](Ending& end) { end.exit.exit_code = -1; }, "exit code -1 instead of exit code 3"},
        {[](Ending& end) { end = failed({.code = ErrorCode::external}); },
         "error external instead of exit code 3"},
        {[](Ending& end) { end.exit.reason = Exit::Reason::yielded; },
         "yielded instead of exit code 3"},
        {[](Ending& end) { end.outputs[0].kept = "oUt"; }, "stdout differs at byte 1"},
        {[](Ending& end) { end.outputs[1].kept = "erR"; }, "stderr differs at byte 2"},
        {[](Ending& end) { end.outputs[0].written = 4; }, "4 bytes of stdout instead of 3"},
        {[](Ending& end) { end.outputs[1] = {}; }, "0 bytes of stderr instead of 3"},
    };
    for (const auto& [make, said] : changes) {
        auto changed = exited();
        make(changed);
        EXPECT_EQ(visible_difference(exited(), changed), said);
        EXPECT_EQ(difference(exited(), changed), said);
    }
}

TEST(Ending, the_state_of_the_machine_is_a_difference_that_is_not_seen)
{
    std::vector<Change> changes{
        {[](Ending& end) { ++end.exit.cycles; }, "501 cycles instead of 500"},
        {[](Ending& end) { end.exit.pc = 0x10014; }, "pc 0x10014 instead of 0x10010"},
    };
    for (std::size_t i = 0; i != 32; ++i)
        changes.push_back({[i](Ending& end) { end.registers[i] = 0xab; },
                           "x" + std::to_string(i) + " = 0xab instead of 0x0"});
    for (const auto& [make, said] : changes) {
        auto changed = exited();
        make(changed);
        EXPECT_EQ(visible_difference(exited(), changed), "");
        EXPECT_EQ(difference(exited(), changed), said);
    }
}

TEST(Ending, the_payload_of_an_error_is_a_difference)
{
    const auto one = failed({.code = ErrorCode::mem_out_of_bound, .address = 0x1000});
    const auto other = failed({.code = ErrorCode::mem_out_of_bound, .address = 0x2000});
    EXPECT_EQ(visible_difference(one, other), "");
    EXPECT_EQ(difference(one, other),
              "'" + message(other.exit.error) + "' instead of '" + message(one.exit.error) + "'");
    EXPECT_NE(message(other.exit.error), message(one.exit.error));
}
}  // namespace
}  // namespace mopvm::tool
