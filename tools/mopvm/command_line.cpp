// SPDX-License-Identifier: MIT
// A command line: finds the subcommand, and turns what goes wrong into messages and statuses.

#include "command_line.hpp"

#include "commands.hpp"
#include "files.hpp"
#include "problem.hpp"
#include "text.hpp"

#include <mopvm/version.hpp>

#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <array>
#include <cstdio>
#include <exception>
#include <memory>
#include <new>
#include <utility>

namespace mopvm::tool
{
namespace
{
constexpr std::array commands{
    Command{
        .name = "run",
        .usage = "[OPTIONS] ELF [ARGS...]",
        .description = "Runs a program. Everything after ELF goes to the guest, word for word.",
        .examples =
            "Examples:\n"
            "  mopvm run hello.elf\n"
            "  mopvm run --stats --json result.json sha256.elf < message.txt\n"
            "  mopvm run --vm-version 1 --max-cycles 70000000 --syscalls ckb script.elf\n"
            "  mopvm run --argv0 '' cat.elf -- --help    (-- and --help are the guest's)\n"
            "  mopvm run --batch cases.txt               (one case a line, JSON a line)\n"
            "\n"
            "Exit status: the guest's code; 125 when the VM stops it with an error; 124 for\n"
            "a wrong command line, a file that cannot be read or written, or a failure of\n"
            "the host; 130 when Ctrl-C paused it.\n",
        .main = run,
    },
    Command{
        .name = "compare",
        .usage = "[OPTIONS] ELF [ARGS...]",
        .description = "Runs a program with fusion off and on, on every engine, and compares "
                       "cycles, time, and what was fused.",
        .examples =
            "Examples:\n"
            "  mopvm compare bigint.elf\n"
            "  mopvm compare --repeat 20 --backend interpreter interp.elf 2000\n"
            "  mopvm compare sha256.elf < message.txt    (every run gets the same input)\n"
            "  mopvm compare --json result.json --vm-version 1 script.elf\n"
            "  mopvm compare --json - bigint.elf         (JSON in place of the tables)\n"
            "\n"
            "What the guest writes is compared and not shown: mopvm run shows it.\n"
            "Exit status: 0 when all runs ended with the same exit code, whatever it is, and\n"
            "the same output; 125 when they did not, or the VM stopped one with an error;\n"
            "124 as for run; 130 when Ctrl-C ended it, with what was measured so far.\n",
        .main = compare,
    },
    Command{
        .name = "info",
        .usage = "[OPTIONS] ELF",
        .description = "Shows segments, entry, what loading costs in cycles, whether the program "
                       "would load, and what is odd about it.",
        .examples = "Examples:\n"
                    "  mopvm info hello.elf\n"
                    "  mopvm info --vm-version 0 --memory 1M hello.elf\n"
                    "  mopvm info --json hello.elf\n"
                    "\n"
                    "Exit status: 0 when the program would load, 125 when not, 124 as for run.\n",
        .main = info,
    },
    Command{
        .name = "disasm",
        .usage = "[OPTIONS] ELF",
        .description = "Disassembles the executable segments.",
        .examples = "Examples:\n"
                    "  mopvm disasm hello.elf\n"
                    "  mopvm disasm --mop --vm-version 1 hello.elf\n"
                    "  mopvm disasm --no-aliases --isa imcab hello.elf\n"
                    "  mopvm disasm --json hello.elf\n"
                    "\n"
                    "Exit status: 0, 125 when the file is no program, 124 as for run.\n",
        .main = disasm,
    },
};

/// The usage line of a subcommand, with the words that its parser never sees.
class UsageFormatter final : public CLI::Formatter
{
public:
    explicit UsageFormatter(const Command& command) : m_command{&command} {}

    std::string make_usage(const CLI::App* /*app*/, std::string /*name*/) const override
    {
        return std::string{"Usage: mopvm "} + m_command->name + " " + m_command->usage + "\n";
    }

private:
    const Command* m_command;
};

void print(const std::string& text)
{
    Output out{"-"};
    out.write(text);
    out.flush();
}

[[nodiscard]] std::string help()
{
    std::string text =
        "mopvm: a deterministic RISC-V virtual machine with macro-op fusion\n"
        "Usage: mopvm SUBCOMMAND [OPTIONS] ELF\n"
        "\n"
        "Options:\n"
        "  -h,--help     Print this help and exit\n"
        "  --version     Print the version and exit\n"
        "\n"
        "Subcommands:\n";
    for (const auto& command : commands)
        text += "  " + std::string{command.name} +
                std::string(14 - std::string_view{command.name}.size(), ' ') + command.description +
                "\n";
    return text +
           "\n"
           "Examples:\n"
           "  mopvm run hello.elf\n"
           "  mopvm compare hello.elf\n"
           "  mopvm info hello.elf\n"
           "  mopvm disasm --mop hello.elf\n"
           "  mopvm run --help\n";
}

[[nodiscard]] int dispatch(Words words)
{
    if (words.empty())
        throw Problem{"the subcommand is missing; see mopvm --help"};
    const auto first = words.front();
    if (first == "--help" || first == "-h") {
        print(help());
        return status_success;
    }
    if (first == "--version") {
        print("mopvm " + std::string{version_text} + "\n");
        return status_success;
    }
    words.erase(words.begin());
    for (const auto& command : commands) {
        if (first == command.name)
            return command.main(command, words);
    }
    throw Problem{"there is no subcommand '" + printable(first) + "'; see mopvm --help"};
}

void complain(const char* text) noexcept
{
    (void)std::fputs("mopvm: ", stderr);
    (void)std::fputs(text, stderr);
    (void)std::fputs("\n", stderr);
}
}  // namespace

int run_command_line(Words words) noexcept
try {
    // Made by hand, as the maker of such loggers takes each name once in a process.
    spdlog::set_default_logger(std::make_shared<spdlog::logger>(
        "mopvm", std::make_shared<spdlog::sinks::stderr_sink_st>()));
    spdlog::set_pattern("mopvm: %l: %v");
    return dispatch(std::move(words));
} catch (const ClosedPipe&) {
    // The reader has seen enough.
    return status_success;
} catch (const std::bad_alloc&) {
    complain("the host has no memory left");
    return status_problem;
} catch (const std::exception& error) {
    complain(error.what());
    return status_problem;
}

std::unique_ptr<CLI::App> make_parser(const Command& command)
{
    auto app =
        std::make_unique<CLI::App>(command.description, std::string{"mopvm "} + command.name);
    app->formatter(std::make_shared<UsageFormatter>(command));
    app->footer(command.examples);
    return app;
}

void print_help(const CLI::App& app)
{
    print(app.help());
}

void set_log_level(const std::string& level)
{
    spdlog::set_level(spdlog::level::from_str(level));
}
}  // namespace mopvm::tool
