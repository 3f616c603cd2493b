// SPDX-License-Identifier: MIT
// The host's clocks.

#include "syscalls/host_clock.hpp"

#include <array>
#include <ctime>

namespace mopvm::syscalls
{
namespace
{
/// The host's clocks by their Linux numbers.
constexpr std::array host_clocks{CLOCK_REALTIME, CLOCK_MONOTONIC, CLOCK_PROCESS_CPUTIME_ID,
                                 CLOCK_THREAD_CPUTIME_ID};
}  // namespace

std::optional<ClockTime> read_host_clock(std::uint64_t clock) noexcept
{
    std::timespec time{};
    if (clock >= host_clocks.size() || ::clock_gettime(host_clocks[clock], &time) != 0)
        return std::nullopt;
    return ClockTime{.seconds = static_cast<std::uint64_t>(time.tv_sec),
                     .nanoseconds = static_cast<std::uint64_t>(time.tv_nsec)};
}
}  // namespace mopvm::syscalls
