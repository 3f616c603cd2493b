// SPDX-License-Identifier: MIT
/// @file
/// Ctrl-C: pauses the running guest instead of ending the process.
#pragma once

#include <mopvm/pause.hpp>

namespace mopvm::tool
{
/// While it lives, the first SIGINT pauses the machine of the present `PauseTarget`, or of the next
/// one, and wakes `wait_for`; the second has its default effect. A SIGINT that the process was
/// started to ignore stays ignored. There is one at a time.
class InterruptGuard
{
public:
    /// @throws Problem  when the host refuses a pipe.
    InterruptGuard();
    InterruptGuard(const InterruptGuard&) = delete;
    InterruptGuard& operator=(const InterruptGuard&) = delete;
    ~InterruptGuard();
};

/// While it lives, its machine is the one that the `InterruptGuard` around it pauses. There is one
/// at a time.
class PauseTarget
{
public:
    explicit PauseTarget(PauseHandle pause) noexcept;
    PauseTarget(const PauseTarget&) = delete;
    PauseTarget& operator=(const PauseTarget&) = delete;
    ~PauseTarget();

private:
    PauseHandle m_pause;
};

/// True when SIGINT arrived during the present or last `InterruptGuard`.
[[nodiscard]] bool interrupted() noexcept;

/// Waits until @p fd can be read (@p events POLLIN) or written (POLLOUT), or is broken.
/// @return false when it would have to wait and SIGINT has come.
[[nodiscard]] bool wait_for(int fd, short events) noexcept;
}  // namespace mopvm::tool
