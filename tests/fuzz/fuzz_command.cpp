// SPDX-License-Identifier: MIT
// Command lines and batches out of a fuzzer's decisions: whatever the words, the command ends with
// a status that is documented, a reason for it, and JSON that can be read.

#include "command_files.hpp"
#include "command_sandbox.hpp"
#include "support/choices.hpp"
#include "support/fuzz_check.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace
{
using namespace mopvm;
using nlohmann::json;
using test::Choices;
using Words = std::vector<std::string>;

/// An option and values for it, good ones and others; none at all for a flag.
struct OptionRow
{
    std::string_view name;
    std::vector<std::string_view> values{};
};

/// A file that the fuzzer makes; `info` and `disasm`, which run nothing, get any bytes.
constexpr std::string_view any_file = "any.elf";

// No number is one that `--repeat` would take and need long for.
const std::vector<OptionRow> option_rows{
    {"--backend", {"interpreter", "asm", "auto", "jit", ""}},
    {"--mop", {"on", "off", "maybe", ""}},
    {"--vm-version", {"0", "1", "2", "3", "-1", "02"}},
    {"--isa", {"imc", "imcb", "imca", "imcab", "rv64gc", ""}},
    {"--cost", {"standard", "constant", "zero", "dear"}},
    {"--max-cycles",
     {"0", "1", "40", "90", "18446744073709551615", "18446744073709551616", "-1", "0x10", "+1",
      ""}},
    {"--memory",
     {"256K", "4M", "1M", "0", "257K", "1025M", "4m", "M", "18014398509481984K", "-1K", "4 M"}},
    {"--argv0", {"", "name", "a b", "\xc3\xa9", "\xff", "--help"}},
    {"--no-argv0"},
    {"--syscalls", {"ckb", "posix", "none"}},
    {"--host-time"},
    {"--stats"},
    {"--json", {"-", "out.json", "folder", "missing\n", "", "hello.elf"}},
    {"--stdin", {"-", "input.txt", "missing", "folder", "cases.txt"}},
    {"--batch", {"-", "cases.txt", "missing", "folder"}},
    {"--log-level", {"trace", "debug", "info", "warn", "error", "off", "loud"}},
    {"--repeat", {"1", "2", "0", "-1", "1000001"}},
    {"--no-aliases"},
    {"--mop"},
    {"--json"},
    {"--help"},
    {"--version"},
    {"--"},
    {"-h"},
    {"-"},
    {"--unknown"},
};

constexpr auto programs = std::to_array<std::string_view>(
    {"hello.elf", "fused.elf", "echo.elf", "fault.elf", "bytes.elf", any_file, any_file, "cut.elf",
     "narrow.elf", "entry.elf", "open.elf", "huge.elf", "empty.elf", "text.elf", "missing.elf",
     "folder", "."});

/// Bytes that name nothing outside of the folder and are no number that takes long.
std::string any_text(Choices& choices)
{
    std::string text;
    for (std::uint64_t length = choices.below(12); length != 0; --length) {
        const char c = static_cast<char>(1 + choices.below(255));
        text += c == '/' || (c >= '0' && c <= '9') ? '=' : c;
    }
    return text;
}

void add_option(Words& words, Choices& choices)
{
    const OptionRow& row = choices.one_of(option_rows);
    std::string name{row.name};
    if (choices.one_in(16))
        name = any_text(choices);
    if (row.values.empty() || choices.one_in(32)) {
        words.push_back(name);
        return;
    }
    std::string value{choices.one_of(row.values)};
    if (choices.one_in(16))
        value = any_text(choices);
    if (choices.one_in(3)) {
        words.push_back(name + '=' + value);
    } else {
        words.push_back(name);
        words.push_back(value);
    }
}

/// Options, mostly a program, and words behind it.
void add_case(Words& words, Choices& choices)
{
    for (std::uint64_t count = choices.below(5); count != 0; --count)
        add_option(words, choices);
    if (!choices.one_in(8))
        words.emplace_back(choices.one_of(programs));
    for (std::uint64_t count = choices.below(3); count != 0; --count) {
        if (choices.one_in(2))
            add_option(words, choices);
        else
            words.push_back(any_text(choices));
    }
}

/// @p word as a shell takes it for one word.
std::string quoted(const std::string& word)
{
    std::string text = "'";
    for (const char c : word)
        text += c == '\'' ? std::string{"'\\''"} : std::string{c};
    return text + '\'';
}

std::string any_batch(Choices& choices)
{
    std::string text;
    for (std::uint64_t count = choices.below(5); count != 0; --count) {
        Words words;
        add_case(words, choices);
        for (const std::string& word : words)
            text += (choices.one_in(4) ? word : quoted(word)) + ' ';
        if (choices.one_in(4))
            text += any_text(choices);
        if (!choices.one_in(8))
            text += '\n';
    }
    return text;
}

/// How a failure names its input.
std::string describe(const Words& words, const std::string& batch, const test::CommandRun& run)
{
    std::string text = "mopvm";
    for (const std::string& word : words)
        text += ' ' + quoted(word);
    return text + "\nbatch:\n" + batch + "\nstatus " + std::to_string(run.status) + "\nstdout:\n" +
           run.out + "\nstderr:\n" + run.err;
}

/// True when @p text is one JSON document, or one on each line.
bool is_json(const std::string& text)
{
    if (json::accept(text))
        return true;
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t end = text.find('\n', at);
        if (end == std::string::npos || !json::accept(text.substr(at, end - at)))
            return false;
        at = end + 1;
    }
    return true;
}

/// What stands on stdout from the first line on that begins as JSON does.
std::string json_of(const std::string& out)
{
    if (out.starts_with('{'))
        return out;
    const std::size_t line = out.find("\n{");
    return line == std::string::npos ? "" : out.substr(line + 1);
}

bool has(const Words& words, std::string_view option)
{
    return std::ranges::any_of(words, [&](const std::string& w) { return w.starts_with(option); });
}

/// True when an error @p status has its reason somewhere.
bool says_why(const Words& words, const test::CommandRun& run)
{
    if (run.status != 124 && run.status != 125)
        return true;
    if (run.err.contains("mopvm: "))
        return true;
    // Reports and the lines of a batch say it in what they print.
    const bool reports = words[0] == "info" || (words[0] == "run" && has(words, "--batch"));
    return reports && (!run.out.empty() || !run.written.empty());
}

/// Nothing from a file or a word reaches a terminal as a control character.
bool is_printable(const std::string& text)
{
    return std::ranges::all_of(text, [](char c) {
        const auto byte = static_cast<unsigned char>(c);
        return (byte >= 0x20 && byte != 0x7f) || c == '\n' || c == '\t';
    });
}

void check_run(const Words& words, const std::string& batch, const test::CommandRun& run)
{
    const auto claim = [&](bool holds, const char* what) {
        test::check(holds, [&] { return std::string{what} + '\n' + describe(words, batch, run); });
    };
    // Ctrl-C, whose status is 130, nobody presses.
    constexpr std::array statuses{0, test::hello_code, 124, 125};
    claim(std::ranges::find(statuses, run.status) != statuses.end(), "a status of its own");
    claim(run.status != test::hello_code || words[0] == "run", "a guest's code without a guest");
    claim(says_why(words, run), "an error without a reason");
    claim(is_json(json_of(run.out)), "JSON on stdout");
    for (const auto& [name, text] : run.written)
        claim(is_json(text), "JSON in a file");
    if (words.empty() || words[0] != "run")
        claim(is_printable(run.err) && is_printable(run.out), "control characters");
}

/// One object for each line, in their order, and a status that says whether all were processed.
void check_batch(const Words& words, const std::string& batch, const test::CommandRun& run)
{
    const auto claim = [&](bool holds, const char* what) {
        test::check(holds, [&] { return std::string{what} + '\n' + describe(words, batch, run); });
    };
    auto lines = std::ranges::count(batch, '\n');
    if (!batch.empty() && batch.back() != '\n')
        ++lines;
    claim(std::ranges::count(run.out, '\n') == lines, "an object for each line");
    bool all_processed = true;
    std::int64_t number = 0;
    for (std::size_t at = 0; at < run.out.size();) {
        const std::size_t end = run.out.find('\n', at);
        const json line = json::parse(run.out.substr(at, end - at));
        at = end + 1;
        ++number;
        const bool refused = line.at("status") == "usage_error";
        claim(!refused || line.at("line") == number, "the number of a line");
        claim(!line.at("message").get<std::string>().empty(), "a line without a message");
        all_processed = all_processed && !refused;
    }
    claim(run.status == (all_processed ? 0 : 124), "the status of a batch");
}
}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    static test::CommandSandbox sandbox{test::command_files()};
    static const bool opens_from_folder = sandbox.run({"info", "hello.elf"}, "").status == 0;
    test::check(opens_from_folder, [] { return std::string{"the files are not found"}; });
    Choices choices{std::span{data, size}};
    Words words;
    const bool plain_batch = choices.one_in(4);
    if (plain_batch) {
        words = {"run", "--batch", "-"};
    } else {
        words.emplace_back(choices.one_of<std::string_view>(
            {"run", "run", "run", "compare", "info", "disasm", "info", "disasm"}));
        if (choices.one_in(32))
            words[0] = any_text(choices);
        add_case(words, choices);
    }
    const std::string batch = any_batch(choices);
    auto file = test::program_with_symbols(choices);
    if (words[0] == "info" || words[0] == "disasm")
        while (!choices.exhausted())
            file[choices.below(file.size())] = static_cast<std::byte>(choices.below(256));
    sandbox.add(std::string{any_file}, test::to_text(file));
    sandbox.add("cases.txt", batch);

    const test::CommandRun run = sandbox.run(words, batch);
    check_run(words, batch, run);
    if (plain_batch)
        check_batch(words, batch, run);
    return 0;
}
