// SPDX-License-Identifier: MIT
/// @file
/// Trust, but verify: emitted handlers against the reference, once in a process.
#pragma once

#include "asm_x64/handlers.hpp"

#include <string>

namespace mopvm::asm_x64
{
/// Runs every handler on a few operands, next to the reference semantics of the same operations.
/// @return the first unit or sequence whose outcome differs; empty when none does.
/// @throws std::bad_alloc
[[nodiscard]] std::string self_test(const Handlers& handlers, std::span<const Sequence> sequences);
}  // namespace mopvm::asm_x64
