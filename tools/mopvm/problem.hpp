// SPDX-License-Identifier: MIT
/// @file
/// What keeps the command from doing its work, and the exit statuses of docs/cli.md.
#pragma once

#include <stdexcept>

namespace mopvm::tool
{
inline constexpr int status_success = 0;
/// A wrong command line, an unreadable or unwritable file, a failure of the host.
inline constexpr int status_problem = 124;
/// The machine stopped or refused the guest.
inline constexpr int status_vm_error = 125;
/// Ctrl-C paused the guest.
inline constexpr int status_interrupted = 130;

/// A problem outside the guest: `what` tells the user in plain words. Ends the command with
/// `status_problem`, and in a batch the line.
class Problem : public std::runtime_error
{
public:
    using std::runtime_error::runtime_error;
};
}  // namespace mopvm::tool
