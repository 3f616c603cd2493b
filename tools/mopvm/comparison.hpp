// SPDX-License-Identifier: MIT
/// @file
/// Runs of one program without and with fusion, on one engine after another.
#pragma once

#include "guest_run.hpp"
#include "options.hpp"
#include "replay.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace mopvm::tool
{
/// What timed runs cost the host at least.
struct RunTime
{
    std::uint64_t ns = 0;
    std::optional<std::uint64_t> tsc_cycles;  ///< Nothing where the host has no such counter.
};

/// The timed runs of one engine with one fusion setting.
struct Series
{
    std::string name;             ///< `<backend>` or `<backend>+mop`.
    std::optional<RunTime> cold;  ///< Of runs that decode the program.
    std::optional<RunTime> warm;  ///< Of runs that find it decoded.
};

/// The timed runs of one engine.
struct EngineTimes
{
    std::string backend;
    std::array<Series, 2> series{};  ///< Fusion off, fusion on.
};

/// A run that counted what it executed, which costs time: it is not timed.
struct CountedRun
{
    Options options;
    Config config;
    RunResult result;
};

/// The counted run of each fusion setting.
struct CountedRuns
{
    CountedRun off;
    CountedRun on;
};

/// What is known about a program when all runs are done or one of them ended the comparison.
struct Comparison
{
    /// What came of it.
    enum class Status : std::uint8_t
    {
        agreed,     ///< All runs exited, and did the same.
        disagreed,  ///< Two runs did not do the same.
        error,      ///< With one fusion setting or both the machine stopped or refused the guest.
        paused,     ///< Ctrl-C came before all runs were done.
    };

    Status status = Status::agreed;
    std::vector<std::string> problems;   ///< Sentences; none when all runs agreed.
    std::optional<CountedRuns> counted;  ///< Nothing when Ctrl-C came before they were done.
    std::vector<EngineTimes> engines;
};

/// The name of @p status, as in its JSON.
[[nodiscard]] std::string_view name(Comparison::Status status) noexcept;

/// Runs the program @p file with each fusion setting: once to count, and then `options.repeat`
/// times cold and as often warm on each of @p backends, of which there is at least one, to take the
/// time, the series by turns.
/// @throws Problem  when the host fails, std::bad_alloc
[[nodiscard]] Comparison compare_runs(const Options& options,
                                      const std::vector<std::string>& backends,
                                      std::span<const std::byte> file,
                                      RecordedInput& input);

/// How much more @p on is than @p off, in percent; nothing when @p off is 0.
[[nodiscard]] std::optional<double> change_percent(std::uint64_t off, std::uint64_t on) noexcept;
}  // namespace mopvm::tool
