// SPDX-License-Identifier: MIT
// mopvm run

#include "commands.hpp"
#include "files.hpp"
#include "guest_run.hpp"
#include "interrupt.hpp"
#include "problem.hpp"
#include "run_report.hpp"
#include "streams.hpp"

#include <cstdio>
#include <memory>
#include <optional>

namespace mopvm::tool
{
namespace
{
[[nodiscard]] int run_one(const Options& options)
{
    const auto config = options.config();
    const auto file = read_program_file(options.elf);
    auto input = named_input(options.stdin_file);
    // Opened before the run: whoever cannot have the result need not wait for it.
    std::optional<Output> json;
    if (!options.json.empty())
        json.emplace(options.json);

    RunResult result;
    {
        const InterruptGuard guard;
        result = run_guest(options, config, file, std::make_shared<HostStreams>(std::move(input)));
    }
    if (result.exit.reason != Exit::Reason::exited)
        (void)std::fputs(("mopvm: " + result.message + "\n").c_str(), stderr);
    if (options.stats)
        (void)std::fputs(summary(result).c_str(), stderr);
    if (json) {
        json->write(to_line(run_json(options, config, result)));
        json->flush();
    }
    return exit_status(result.exit);
}
}  // namespace

std::unique_ptr<CLI::App> make_run_parser(const Command& command, Options& options)
{
    auto app = make_parser(command);
    add_engine_options(*app, options);
    add_loading_options(*app, options);
    add_decoding_options(*app, options);
    add_execution_options(*app, options);
    add_run_options(*app, options);
    add_general_options(*app, options);
    return app;
}

int run(const Command& command, const Words& words)
{
    Options options;
    const auto app = make_run_parser(command, options);
    if (!parse(*app, options, words, AfterElf::guest)) {
        print_help(*app);
        return status_success;
    }
    set_log_level(options.log_level);
    try {
        return options.batch.empty() ? run_one(options) : run_batch(command, options);
    } catch (const ClosedPipe&) {
        throw Problem{"cannot write the result: nobody reads it any more"};
    }
}
}  // namespace mopvm::tool
