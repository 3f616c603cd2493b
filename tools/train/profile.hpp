// SPDX-License-Identifier: MIT
/// @file
/// What a guest executes, as units of the engine `asm`.
#pragma once

#include "asm_x64/relations.hpp"
#include "guest.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace mopvm::train
{
/// Units that execute one after another, and how often.
struct Run
{
    std::vector<asm_x64::Relation> units{};
    std::uint64_t count = 0;
};

/// One guest's execution.
struct Profile
{
    std::string name;
    std::vector<Run> runs{};
    std::uint64_t instructions = 0;  ///< Executed, so far as it was watched.
};

/// Watches @p guest, with empty input, for at most @p max_cycles cycles.
/// @throws std::runtime_error when it does not run
[[nodiscard]] Profile watch(const Guest& guest, bool fusion, std::uint64_t max_cycles);
}  // namespace mopvm::train
