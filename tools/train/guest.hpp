// SPDX-License-Identifier: MIT
/// @file
/// Guests to learn from.
#pragma once

#include <mopvm/program.hpp>
#include <mopvm/syscalls.hpp>

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace mopvm::train
{
/// A guest to learn from.
struct Guest
{
    std::string name;
    Program program;
    std::vector<std::string> arguments{};  ///< The name of the program included.

    [[nodiscard]] std::vector<std::string_view> argument_views() const
    {
        return {arguments.begin(), arguments.end()};
    }
};

/// System calls for a guest that reads nothing and whose output nobody wants.
[[nodiscard]] std::shared_ptr<SyscallHandler> make_silent_syscalls();
}  // namespace mopvm::train
