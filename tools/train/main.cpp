// SPDX-License-Identifier: MIT
// mopvm-train: chooses the sequences of units that the engine `asm` has handlers for.

#include "asm_x64/handlers.hpp"
#include "choose.hpp"
#include "profile.hpp"
#include "timing.hpp"

#include <mopvm/mopvm.hpp>

#include <CLI/CLI.hpp>

#include <exception>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <sstream>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace mopvm::train
{
namespace
{
struct Options
{
    std::vector<std::string> guests;
    std::size_t count = 700;
    std::uint64_t max_cycles = 40'000'000;
    std::string output;
    bool leave_one_out = false;
};

/// @p command is a path, with arguments behind spaces.
Guest read_guest(const std::string& command)
{
    std::istringstream words{command};
    const std::vector<std::string> arguments{std::istream_iterator<std::string>{words}, {}};
    const std::string path = arguments.empty() ? std::string{} : arguments.front();
    std::ifstream file{path, std::ios::binary};
    const std::string bytes{std::istreambuf_iterator<char>{file}, {}};
    auto program = Program::from_elf(std::as_bytes(std::span{bytes}));
    if (!program)
        throw std::runtime_error{path + ": " + message(program.error())};
    std::string name = std::filesystem::path{path}.stem();
    if (arguments.size() > 1)
        name += ' ' + arguments[1];
    return {.name = std::move(name), .program = *std::move(program), .arguments = arguments};
}

/// The profiles of one guest: without and with fusion.
using Pair = std::array<Profile, 2>;

std::vector<const Profile*> pointers(const std::vector<Pair>& profiles, std::size_t left_out)
{
    std::vector<const Profile*> chosen;
    for (std::size_t i = 0; i < profiles.size(); ++i) {
        if (i != left_out)
            for (const Profile& profile : profiles[i])
                chosen.push_back(&profile);
    }
    return chosen;
}
constexpr auto none_left_out = static_cast<std::size_t>(-1);

void write_relations(std::ostream& out, const asm_x64::Token& token)
{
    if (token == asm_x64::Token{.unit = token.unit})
        return;
    if (token.first == asm_x64::Token::same_base)
        out << ", same_base";
    else
        out << ", " << int{token.first};
    if (token.second != 0 || token.over != 0)
        out << ", " << int{token.second};
    if (token.over != 0)
        out << ", " << int{token.over};
}

void write_table(std::ostream& out, const std::vector<asm_x64::Sequence>& sequences)
{
    out << R"(// SPDX-License-Identifier: MIT
// Superinstructions, the most useful first. Chosen by mopvm-train from what the guests of
// bench/guests execute; change it by running that again (docs/engine.md).
//
// MOPVM_SEQUENCE(units…), each unit as with(unit, first, second, over): how many units back its first
// source, its second source, and the result that its own replaces were computed. 0, also where
// nothing is written: not in this sequence.

// clang-format off

)";
    for (const asm_x64::Sequence& sequence : sequences) {
        const char* separator = "MOPVM_SEQUENCE(";
        for (const asm_x64::Token& token : sequence.span()) {
            out << separator << "with(" << name(token.unit);
            write_relations(out, token);
            out << ')';
            separator = ", ";
        }
        out << ")\n";
    }
    out << "\n// clang-format on\n";
}

/// What the sequences are worth to a guest that they were not chosen for.
void report_left_out(const std::vector<Guest>& guests,
                     const std::vector<Pair>& profiles,
                     const Options& options)
{
    std::cout << "| guest | dispatches per instruction | left out | chosen for all "
                 "| ns per instruction | left out | chosen for all |\n"
                 "|---|---|---|---|---|---|---|\n";
    const auto all = choose(pointers(profiles, none_left_out), options.count);
    for (std::size_t i = 0; i < guests.size(); ++i) {
        std::cerr << "leaving out " << guests[i].name << '\n';
        const auto others = choose(pointers(profiles, i), options.count);
        const Profile& profile = profiles[i][1];
        const std::array<std::span<const asm_x64::Sequence>, 3> tables{
            std::span<const asm_x64::Sequence>{}, others, all};
        std::printf("| %s ", guests[i].name.c_str());
        for (const auto& table : tables)
            std::printf("| %.3f ", dispatches(profile, table));
        for (const double nanoseconds : time_with(guests[i], tables))
            std::printf("| %.2f ", nanoseconds);
        std::printf("|\n");
        std::fflush(stdout);
    }
}

int train(const Options& options)
{
    std::vector<Guest> guests;
    std::vector<Pair> profiles;
    for (const std::string& path : options.guests) {
        guests.push_back(read_guest(path));
        std::cerr << "watching " << guests.back().name << '\n';
        profiles.push_back({watch(guests.back(), false, options.max_cycles),
                            watch(guests.back(), true, options.max_cycles)});
    }
    if (options.leave_one_out)
        report_left_out(guests, profiles, options);
    if (!options.output.empty()) {
        std::ofstream file{options.output};
        write_table(file, choose(pointers(profiles, none_left_out), options.count));
        if (!file.flush())
            throw std::runtime_error{options.output + " cannot be written"};
    }
    return 0;
}
}  // namespace
}  // namespace mopvm::train

int main(int argc, char** argv)
try {
    using mopvm::train::Options;
    Options options;
    CLI::App app{
        "Chooses the superinstructions of the engine `asm` from what guests execute.\n"
        "Guests run with empty input; each counts the same."};
    app.add_option("GUEST", options.guests,
                   "ELF files to learn from, each with its arguments in the same word")
        ->required();
    app.add_option("--count", options.count, "Sequences to choose")
        ->capture_default_str()
        ->check(CLI::Range(std::size_t{1}, mopvm::asm_x64::SequenceMatcher::max_sequences));
    app.add_option("--max-cycles", options.max_cycles, "How long to watch each guest")
        ->capture_default_str();
    app.add_option("--output", options.output,
                   "Where to write the table: backends/asm_x64/sequences.inc");
    app.add_flag("--leave-one-out", options.leave_one_out,
                 "Print, as a Markdown table, what the sequences chosen from the other guests do "
                 "for each guest");
    app.footer(
        "Example:\n  mopvm-train --output backends/asm_x64/sequences.inc "
        "build/guests/bin/*.elf\n"
        "  mopvm-train --leave-one-out build/guests/bin/*.elf 'kernels.elf sieve 60000 1'");
    CLI11_PARSE(app, argc, argv);
    return mopvm::train::train(options);
} catch (const std::exception& error) {
    std::cerr << "mopvm-train: " << error.what() << '\n';
    return 1;
}
