// SPDX-License-Identifier: MIT
// mopvm compare

#include "commands.hpp"
#include "compare_report.hpp"
#include "comparison.hpp"
#include "files.hpp"
#include "problem.hpp"
#include "replay.hpp"

#include <cstdio>
#include <optional>

namespace mopvm::tool
{
namespace
{
/// The engines to run on.
/// @throws Problem  when the one that is asked for is not available.
[[nodiscard]] std::vector<std::string> backends_for(const Options& options)
{
    if (!options.backend.empty())
        return {options.config().backend};
    const auto all = backends();
    return {all.begin(), all.end()};
}

/// Writes all of @p text. @return false when nobody reads it any more.
[[nodiscard]] bool write_all(Output& out, const std::string& text)
try {
    out.write(text);
    out.flush();
    return true;
} catch (const ClosedPipe&) {
    return false;
}

/// Writes the JSON, the tables, and what is wrong, which is to be seen last.
void report(const Options& options, const Comparison& comparison, std::optional<Output>& json)
{
    if (json && !write_all(*json, to_line(comparison_json(options, comparison))))
        throw Problem{"cannot write the result: nobody reads it any more"};
    if (options.json != "-") {
        Output tables{"-"};
        // A reader that goes away has seen enough; the status still tells how it went.
        (void)write_all(tables, comparison_text(options, comparison));
    }
    for (const auto& problem : comparison.problems)
        (void)std::fputs(("mopvm: " + problem + "\n").c_str(), stderr);
}

[[nodiscard]] int exit_status(Comparison::Status status) noexcept
{
    switch (status) {
    case Comparison::Status::agreed:
        return status_success;
    case Comparison::Status::disagreed:
    case Comparison::Status::error:
        break;
    case Comparison::Status::paused:
        return status_interrupted;
    }
    return status_vm_error;
}
}  // namespace

int compare(const Command& command, const Words& words)
{
    Options options;
    const auto app = make_parser(command);
    add_compare_options(*app, options);
    add_loading_options(*app, options);
    add_decoding_options(*app, options);
    add_execution_options(*app, options);
    add_general_options(*app, options);
    if (!parse(*app, options, words, AfterElf::guest)) {
        print_help(*app);
        return status_success;
    }
    set_log_level(options.log_level);
    if (options.vm_version == 0)
        throw Problem{
            "version 0 of the machine has no fusion that could be compared; compare takes "
            "--vm-version 1 or 2"};

    const auto backends = backends_for(options);
    const auto file = read_program_file(options.elf);
    RecordedInput input{named_input(options.stdin_file)};
    // Opened before the runs: whoever cannot have the result need not wait for it.
    std::optional<Output> json;
    if (!options.json.empty())
        json.emplace(options.json);

    const auto comparison = compare_runs(options, backends, file, input);
    report(options, comparison, json);
    return exit_status(comparison.status);
}
}  // namespace mopvm::tool
