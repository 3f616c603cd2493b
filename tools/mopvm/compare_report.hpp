// SPDX-License-Identifier: MIT
/// @file
/// What is said about a comparison: the JSON of docs/cli.md, and tables for people.
#pragma once

#include "comparison.hpp"
#include "run_report.hpp"

#include <string>

namespace mopvm::tool
{
/// The JSON object about a comparison.
[[nodiscard]] Json comparison_json(const Options& options, const Comparison& comparison);

/// The tables about a comparison, without its problems; empty when no program ran.
[[nodiscard]] std::string comparison_text(const Options& options, const Comparison& comparison);
}  // namespace mopvm::tool
