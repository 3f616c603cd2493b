// SPDX-License-Identifier: MIT
/// @file
/// Everything that users of the library may include.
#pragma once

#include <mopvm/config.hpp>
#include <mopvm/cost_model.hpp>
#include <mopvm/error.hpp>
#include <mopvm/exit.hpp>
#include <mopvm/machine.hpp>
#include <mopvm/memory.hpp>
#include <mopvm/pause.hpp>
#include <mopvm/program.hpp>
#include <mopvm/stats.hpp>
#include <mopvm/syscall.hpp>
#include <mopvm/syscalls.hpp>
#include <mopvm/version.hpp>
