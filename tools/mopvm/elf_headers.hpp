// SPDX-License-Identifier: MIT
/// @file
/// What is unusual about a program file that loads all the same, or will not run.
#pragma once

#include <mopvm/program.hpp>

#include <string>
#include <vector>

namespace mopvm::tool
{
/// One sentence for each oddity in the headers of @p program.
[[nodiscard]] std::vector<std::string> find_oddities(const Program& program);
}  // namespace mopvm::tool
