// SPDX-License-Identifier: MIT
/// @file
/// The command as a function.
#pragma once

#include <string>
#include <vector>

namespace mopvm::tool
{
/// Runs the command with @p words, which stand behind its name, on the standard streams of the
/// process; problems become a message on stderr. Once at a time. @return the exit status.
[[nodiscard]] int run_command_line(std::vector<std::string> words) noexcept;
}  // namespace mopvm::tool
