// SPDX-License-Identifier: MIT
/// @file
/// Macro-op fusion: the matcher of the rules in rules.inc.
#pragma once

#include "isa/instruction.hpp"

#include <mopvm/config.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace mopvm::fusion
{
/// Instructions in the longest rule.
inline constexpr std::size_t max_parts = 5;

/// Instructions in the longest rule that begins with an opcode, by its number; 0 when none does.
using WindowSizes = std::array<std::uint8_t, isa::opcode_count>;

/// Those of the rules of @p version; version 0 has none.
[[nodiscard]] const WindowSizes& window_sizes(Version version) noexcept;

/// Instructions in the longest rule of @p version that begins with @p head; 0 when none does.
/// Look-ahead beyond this many is never needed.
[[nodiscard]] std::size_t window_size(isa::Opcode head, Version version) noexcept;

/// True when a rule of @p version begins with @p head and @p second.
[[nodiscard]] bool may_begin(isa::Opcode head, isa::Opcode second, Version version) noexcept;

/// Tries the rules of @p version, in their order, on the instructions that stand one after another
/// from address @p pc on. The window may end early or hold `invalid` instructions (what could not
/// be fetched or decoded): a rule that would need them does not match.
/// @return the fused operation, its cost left 0; nothing when no rule matches.
[[nodiscard]] std::optional<isa::Operation> fuse(std::span<const isa::Instruction> window,
                                                 std::uint64_t pc,
                                                 Version version) noexcept;
}  // namespace mopvm::fusion
