// SPDX-License-Identifier: MIT
/// @file
/// Choosing sequences by merging.
#pragma once

#include "asm_x64/sequences.hpp"
#include "profile.hpp"

#include <span>
#include <vector>

namespace mopvm::train
{
/// The @p count sequences that save most dispatches over all @p profiles, each of the same weight.
///
/// Byte-pair encoding: of all neighbours the most frequent pair becomes one, and that again and
/// again. The most frequent sequences of each length, chosen on their own, would overlap.
[[nodiscard]] std::vector<asm_x64::Sequence> choose(std::span<const Profile* const> profiles,
                                                    std::size_t count);

/// Dispatches per instruction that @p profile takes with @p sequences.
[[nodiscard]] double dispatches(const Profile& profile,
                                std::span<const asm_x64::Sequence> sequences);
}  // namespace mopvm::train
