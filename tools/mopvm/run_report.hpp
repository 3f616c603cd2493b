// SPDX-License-Identifier: MIT
/// @file
/// What is said about a run: the JSON of docs/cli.md, and a summary for people.
#pragma once

#include "guest_run.hpp"
#include "options.hpp"
#include "streams.hpp"

#include <nlohmann/json.hpp>
#include <string>

namespace mopvm::tool
{
using Json = nlohmann::ordered_json;

/// @p json on one line; bytes that are not UTF-8 are replaced.
[[nodiscard]] std::string to_line(const Json& json);

/// The configuration as the options that ask for it.
[[nodiscard]] Json config_json(const Options& options, const Config& config);

/// The payload of @p error; null without one.
[[nodiscard]] Json error_detail(const Error& error);

/// The JSON object about a run.
[[nodiscard]] Json run_json(const Options& options, const Config& config, const RunResult& result);

/// Adds what the guest wrote: `stdout`, `stderr` (or `…_base64`) and `truncated`.
void add_output(Json& json, const CapturedStreams& streams);

/// Executed operations that are fused.
[[nodiscard]] std::uint64_t fused_operations(const Stats& stats) noexcept;

/// @p count operations in percent of all that were executed; 0 when none was.
[[nodiscard]] double percent_of_operations(std::uint64_t count, const Stats& stats) noexcept;

/// The counts of a run, some lines for people.
[[nodiscard]] std::string summary(const RunResult& result);
}  // namespace mopvm::tool
