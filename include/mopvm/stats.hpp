// SPDX-License-Identifier: MIT
/// @file
/// What a run executed: operations, instructions and the fused ones by rule.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace mopvm
{
/// The sixteen fusion rules, in the order in which reports list them.
enum class FusionRule : std::uint8_t
{
    adc,
    sbb,
    wide_mul,
    wide_mulu,
    wide_mulsu,
    wide_div,
    wide_divu,
    far_jump_rel,
    far_jump_abs,
    load_const_lui,
    load_const_auipc,
    adcs,
    sbbs,
    add3a,
    add3b,
    add3c,
};

/// Number of fusion rules.
inline constexpr std::size_t fusion_rule_count = 16;

/// The name of @p rule, for example `wide_mul`.
[[nodiscard]] std::string_view name(FusionRule rule) noexcept;

/// Counts of one machine since creation or reset; equal in every backend. An operation that faults
/// or does not fit the cycle limit is not counted.
struct Stats
{
    std::uint64_t operations = 0;    ///< Executed operations; a fused one counts once.
    std::uint64_t instructions = 0;  ///< Executed instructions; the parts of fused ones count each.
    std::array<std::uint64_t, fusion_rule_count> fused{};  ///< Executions by `FusionRule`.

    friend bool operator==(const Stats&, const Stats&) = default;
};
}  // namespace mopvm
