// SPDX-License-Identifier: MIT
/// @file
/// Where the arguments of a system call are, and the answers that most calls give.
#pragma once

#include <mopvm/machine.hpp>
#include <mopvm/syscall.hpp>

#include <cstdint>

namespace mopvm::syscalls
{
/// The register a7, which holds the number of the call.
inline constexpr unsigned number_register = 17;
/// The register a0: the first argument, and the result.
inline constexpr unsigned first_argument = 10;

/// Argument @p index of the call that @p machine makes, 0 to 5.
[[nodiscard]] inline std::uint64_t argument(const Machine& machine, unsigned index) noexcept
{
    return machine.reg(first_argument + index);
}

/// The answer "done" with @p result in a0.
[[nodiscard]] inline SyscallAnswer done(Machine& machine, std::uint64_t result) noexcept
{
    machine.set_reg(first_argument, result);
    return SyscallAnswer::handled();
}
}  // namespace mopvm::syscalls
