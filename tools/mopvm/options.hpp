// SPDX-License-Identifier: MIT
/// @file
/// The options of the subcommands, as docs/cli.md lists them.
#pragma once

#include <mopvm/config.hpp>

#include <CLI/App.hpp>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace mopvm::tool
{
/// The words of a command line behind the subcommand.
using Words = std::vector<std::string>;

/// What a command line asks for. Strings hold the option values as given.
struct Options
{
    std::string elf;
    Words arguments;  ///< What follows ELF.

    std::string backend;
    std::optional<bool> mop;
    unsigned vm_version = 2;
    std::string isa;
    std::string cost = "standard";
    std::uint64_t max_cycles = std::numeric_limits<std::uint64_t>::max();
    std::uint64_t memory = default_memory_size;
    std::optional<std::string> argv0;
    bool no_argv0 = false;
    std::string syscalls = "posix";
    bool host_time = false;
    bool stats = false;
    std::string json;          ///< Empty: none; `-`: stdout.
    std::string stdin_file;    ///< Empty: the default of the command; `-`: stdin.
    std::string batch;         ///< Empty: not a batch.
    std::uint64_t repeat = 5;  ///< How often `compare` times each series.
    std::string log_level = "warn";

    /// The configuration of the machine, with the defaults that depend on the version.
    /// @throws Problem  when the backend is not available.
    [[nodiscard]] Config config() const;

    /// The guest's arguments, argv[0] first unless --no-argv0; valid as long as the options.
    [[nodiscard]] std::vector<std::string_view> guest_arguments() const;
};

/// Adds --log-level, and says that wrong options end with `status_problem`.
void add_general_options(CLI::App& app, Options& options);
/// Adds --vm-version and --isa.
void add_decoding_options(CLI::App& app, Options& options);
/// Adds --backend and --mop.
void add_engine_options(CLI::App& app, Options& options);
/// Adds the other options that decide how a program is loaded.
void add_loading_options(CLI::App& app, Options& options);
/// Adds the options that decide what a run may do and cost.
void add_execution_options(CLI::App& app, Options& options);
/// Adds the options of `run` alone.
void add_run_options(CLI::App& app, Options& options);
/// Adds the options of `compare` alone, and refuses those of `run` that would leave it nothing to
/// compare.
void add_compare_options(CLI::App& app, Options& options);

/// Adds --json of commands whose only output is a report: a flag that may name a file.
void add_json_flag(CLI::App& app, Options& options);

/// Where the words behind ELF go.
enum class AfterElf
{
    guest,    ///< To the guest, word for word.
    options,  ///< They are options too: there is no guest.
};

/// Parses @p words with @p app, which fills @p options.
/// @return false when it is a request for help.
/// @throws Problem  with what is wrong.
[[nodiscard]] bool parse(CLI::App& app, Options& options, const Words& words, AfterElf after);
}  // namespace mopvm::tool
