// SPDX-License-Identifier: MIT
/// @file
/// How a run ended, and where two runs of one program differ.
#pragma once

#include <mopvm/exit.hpp>

#include <array>
#include <cstdint>
#include <string>

namespace mopvm::tool
{
/// What a guest wrote to one descriptor.
struct GuestOutput
{
    std::string kept;           ///< The first bytes of it.
    std::uint64_t written = 0;  ///< The length of all of it in bytes.

    friend bool operator==(const GuestOutput&, const GuestOutput&) = default;
};

/// The end of a run, and what it left behind.
struct Ending
{
    Exit exit;
    std::array<std::uint64_t, 32> registers{};
    std::array<GuestOutput, 2> outputs{};  ///< Of stdout and stderr.
};

/// The first thing in which a user sees that @p found is not @p expected: how it ended, or what it
/// wrote. Words for a sentence; empty when there is none.
[[nodiscard]] std::string visible_difference(const Ending& expected, const Ending& found);

/// The first difference at all: visible, or in the error's payload, cycles, pc or registers. Runs
/// with the same fusion setting have none, on whatever engine.
[[nodiscard]] std::string difference(const Ending& expected, const Ending& found);
}  // namespace mopvm::tool
