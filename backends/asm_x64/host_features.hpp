// SPDX-License-Identifier: MIT
/// @file
/// Instructions that not every x86-64 processor has.
#pragma once

namespace mopvm::asm_x64
{
/// What handlers may use beyond what every x86-64 processor has. They do the same without, only
/// slower.
struct HostFeatures
{
    bool popcnt = false;
    bool lzcnt = false;
    bool bmi1 = false;  ///< ANDN, TZCNT
    bool bmi2 = false;  ///< SHLX and its like
    bool pclmul = false;

    /// Those of the processor that runs this; none when built with
    /// MOPVM_ASM_X64_BASELINE.
    [[nodiscard]] static HostFeatures of_this_host() noexcept;

    friend constexpr bool operator==(const HostFeatures&, const HostFeatures&) = default;
};
}  // namespace mopvm::asm_x64
