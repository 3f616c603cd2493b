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

/// The rules that begin with one opcode.
struct Head
{
    std::uint8_t window_size = 0;  ///< Parts of the longest; 0 when there is none.
    std::uint8_t first_rule = 0;   ///< Index of the first row.
    std::uint8_t behind_rules =
        0;  ///< Index behind the last; rows of other versions may lie between.
    /// What their second part can be; `invalid` where there is none.
    std::array<isa::Opcode, 2> seconds{};

    /// True when a rule goes on with @p second, which is not `invalid`.
    [[nodiscard]] constexpr bool goes_on_with(isa::Opcode second) const noexcept
    {
        return second == seconds[0] || second == seconds[1];
    }
};

/// By the opcode's number.
using Heads = std::array<Head, isa::opcode_count>;

/// Those of the rules of @p version; version 0 has none.
[[nodiscard]] const Heads& heads(Version version) noexcept;

/// Instructions in the longest rule of @p version that begins with @p head; 0 when none does.
/// Look-ahead beyond this many is never needed.
[[nodiscard]] std::size_t window_size(isa::Opcode head, Version version) noexcept;

/// Tries the rules of @p version, in their order, on the instructions that stand one after another
/// from address @p pc on. The window may end early or hold `invalid` instructions (what could not
/// be fetched or decoded): a rule that would need them does not match.
/// @return the fused operation, its cost left 0; nothing when no rule matches.
[[nodiscard]] std::optional<isa::Operation> fuse(std::span<const isa::Instruction> window,
                                                 std::uint64_t pc,
                                                 Version version) noexcept;
}  // namespace mopvm::fusion
