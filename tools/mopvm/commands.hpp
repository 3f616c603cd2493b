// SPDX-License-Identifier: MIT
/// @file
/// The subcommands: each takes the words behind its name and returns the exit status.
#pragma once

#include "options.hpp"

#include <CLI/App.hpp>
#include <memory>
#include <string>

namespace mopvm::tool
{
/// A subcommand: one row of the table in docs/cli.md.
struct Command
{
    const char* name;
    const char* usage;  ///< What follows the name.
    const char* description;
    const char* examples;
    int (*main)(const Command& command, const Words& words);
};

/// Makes the option parser of @p command, with its help but without options.
[[nodiscard]] std::unique_ptr<CLI::App> make_parser(const Command& command);

/// Makes the option parser of `run`, which fills @p options.
[[nodiscard]] std::unique_ptr<CLI::App> make_run_parser(const Command& command, Options& options);

/// Prints the help of @p app.
void print_help(const CLI::App& app);

/// Makes the log say what @p level names, a value of --log-level, on stderr.
void set_log_level(const std::string& level);

/// `mopvm run ELF [ARGS…]` and, with --batch, `run_batch`.
/// @throws Problem, ClosedPipe, std::bad_alloc  as all of them
[[nodiscard]] int run(const Command& command, const Words& words);

/// `mopvm run --batch FILE`; @p defaults are the options that hold for every line.
[[nodiscard]] int run_batch(const Command& command, const Options& defaults);

/// `mopvm compare ELF [ARGS…]`
[[nodiscard]] int compare(const Command& command, const Words& words);

/// `mopvm info ELF`
[[nodiscard]] int info(const Command& command, const Words& words);

/// `mopvm disasm ELF`
[[nodiscard]] int disasm(const Command& command, const Words& words);
}  // namespace mopvm::tool
