// SPDX-License-Identifier: MIT
/// @file
/// The host's clocks, for the only system calls that may look at them.
#pragma once

#include <cstdint>
#include <optional>

namespace mopvm::syscalls
{
/// A reading of a clock.
struct ClockTime
{
    std::uint64_t seconds = 0;
    std::uint64_t nanoseconds = 0;
};

/// The number of the clock that tells the time of day.
inline constexpr std::uint64_t time_of_day_clock = 0;

/// What the host's clock with the Linux number @p clock shows: 0 the time of day, 1 monotonic time,
/// 2 and 3 the processor time of the process and of the thread. Nothing for any other number.
[[nodiscard]] std::optional<ClockTime> read_host_clock(std::uint64_t clock) noexcept;
}  // namespace mopvm::syscalls
