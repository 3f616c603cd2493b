// SPDX-License-Identifier: MIT
/// @file
/// How fast a guest is with different tables of sequences.
#pragma once

#include "asm_x64/sequences.hpp"
#include "profile.hpp"

#include <array>
#include <span>

namespace mopvm::train
{
/// Nanoseconds of CPU time per instruction that @p guest takes with each of @p tables, with
/// everything decoded before. A process has one table, so each is measured in children of its own,
/// in turns; the fastest counts. @throws std::runtime_error
[[nodiscard]] std::array<double, 3> time_with(
    const Guest& guest,
    const std::array<std::span<const asm_x64::Sequence>, 3>& tables);
}  // namespace mopvm::train
