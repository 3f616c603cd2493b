// SPDX-License-Identifier: MIT
/// @file
/// The engine called `asm`: an interpreter whose handlers are emitted at run time.
#pragma once

#include "machine/backend.hpp"

namespace mopvm::asm_x64
{
/// The engine called `asm`; runs on x86-64 hosts that let emitted code be executed.
extern const Backend backend;
}  // namespace mopvm::asm_x64
