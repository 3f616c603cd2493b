// SPDX-License-Identifier: MIT
/// @file
/// The stack that a program finds when it starts: its arguments.
#pragma once

#include <mopvm/config.hpp>
#include <mopvm/memory.hpp>

#include <cstdint>
#include <span>
#include <string_view>

namespace mopvm::machine
{
/// A stack as the program finds it.
struct InitialStack
{
    std::uint64_t sp = 0;     ///< Initial value of the stack pointer.
    std::uint64_t bytes = 0;  ///< From `sp` to the end of memory; counts as loaded bytes.
};

/// Writes @p arguments below the end of @p memory in the layout of @p version (`docs/elf.md`).
/// Fails with `mem_out_of_bound` or `mem_write_on_executable_page` at the first store that memory
/// refuses, and with `mem_out_of_stack` when all is written but below the top quarter of memory.
[[nodiscard]] Result<InitialStack>
build_stack(Memory memory, Version version, std::span<const std::string_view> arguments) noexcept;
}  // namespace mopvm::machine
