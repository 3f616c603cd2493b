// SPDX-License-Identifier: MIT
/// @file
/// The integer registers and their ABI names.
#pragma once

#include <array>
#include <cstddef>
#include <string_view>

namespace mopvm::isa
{
inline constexpr std::size_t register_count = 32;

/// Registers that the machine itself gives a meaning to.
inline constexpr unsigned reg_zero = 0;
inline constexpr unsigned reg_ra = 1;
inline constexpr unsigned reg_sp = 2;
inline constexpr unsigned reg_a0 = 10;
inline constexpr unsigned reg_a7 = 17;

/// ABI names by register number.
inline constexpr std::array<std::string_view, register_count> register_names{
    "zero", "ra", "sp", "gp", "tp",  "t0",  "t1", "t2", "s0", "s1", "a0",
    "a1",   "a2", "a3", "a4", "a5",  "a6",  "a7", "s2", "s3", "s4", "s5",
    "s6",   "s7", "s8", "s9", "s10", "s11", "t3", "t4", "t5", "t6"};
}  // namespace mopvm::isa
