// SPDX-License-Identifier: MIT
/// @file
/// The reference engine: portable, small, and the meaning of all others.
#pragma once

#include "machine/backend.hpp"

namespace mopvm::interpreter
{
/// The engine called `interpreter`; runs on every host.
extern const Backend backend;
}  // namespace mopvm::interpreter
