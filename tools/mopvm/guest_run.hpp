// SPDX-License-Identifier: MIT
/// @file
/// One run of one guest, from the file to what is reported about it.
#pragma once

#include "options.hpp"

#include <mopvm/machine.hpp>
#include <mopvm/syscalls.hpp>

#include <array>
#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>

namespace mopvm::tool
{
/// What a run cost the host.
struct HostCost
{
    std::uint64_t load_ns = 0;  ///< Parsing the file and loading the program.
    std::uint64_t run_ns = 0;   ///< Running it.
    /// Ticks of the time-stamp counter while running; nothing where the host has none.
    std::optional<std::uint64_t> tsc_cycles;
};

/// The end of a run: the state of the machine, and words for the user. After an error of loading it
/// is the state of a fresh machine.
struct RunResult
{
    Exit exit;
    bool loaded = false;  ///< The program could be loaded, and began to run.
    std::array<std::uint64_t, 32> registers{};
    Stats stats;
    HostCost host;
    std::string message;  ///< One sentence.
};

/// Loads and runs @p program as @p options and their @p config say. An `InterruptGuard` must live.
/// @throws Problem  when @p config is refused, std::bad_alloc
[[nodiscard]] RunResult run_program(const Options& options,
                                    const Config& config,
                                    const Program& program,
                                    const std::shared_ptr<GuestStreams>& streams);

/// Parses the program @p file and does the same; `load_ns` of the result includes the parsing.
/// @throws Problem  when @p config is refused, std::bad_alloc
[[nodiscard]] RunResult run_guest(const Options& options,
                                  const Config& config,
                                  std::span<const std::byte> file,
                                  const std::shared_ptr<GuestStreams>& streams);

/// True when the host, not the guest, is why the run ended.
[[nodiscard]] bool is_host_failure(const Exit& exit) noexcept;

/// The exit status of the command for a run that ended with @p exit.
[[nodiscard]] int exit_status(const Exit& exit) noexcept;
}  // namespace mopvm::tool
