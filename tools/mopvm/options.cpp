// SPDX-License-Identifier: MIT
// Options of the subcommands.

#include "options.hpp"

#include "problem.hpp"
#include "text.hpp"

#include <mopvm/machine.hpp>

#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <algorithm>
#include <charconv>
#include <limits>

namespace mopvm::tool
{
namespace
{
/// Runs that `compare` times of each series at most.
constexpr std::uint64_t max_repeat = 1'000'000;

/// The decimal number that @p text is, or nothing.
[[nodiscard]] std::optional<std::uint64_t> parse_number(std::string_view text) noexcept
{
    std::uint64_t value = 0;
    const auto* const end = text.data() + text.size();
    // NOLINTNEXTLINE(bugprone-suspicious-stringview-data-usage): `end` says where it ends.
    const auto [stop, error] = std::from_chars(text.data(), end, value);
    if (text.empty() || error != std::errc{} || stop != end)
        return std::nullopt;
    return value;
}

/// The bytes that @p text says: a number, with K or M behind it or not.
[[nodiscard]] std::optional<std::uint64_t> parse_size(std::string_view text) noexcept
{
    unsigned shift = 0;
    if (text.ends_with('K'))
        shift = 10;
    else if (text.ends_with('M'))
        shift = 20;
    if (shift != 0)
        text.remove_suffix(1);
    const auto value = parse_number(text);
    if (!value || *value > std::numeric_limits<std::uint64_t>::max() >> shift)
        return std::nullopt;
    return *value << shift;
}

[[nodiscard]] bool is_memory_size(std::uint64_t bytes) noexcept
{
    return bytes >= min_memory_size && bytes <= max_memory_size && bytes % memory_size_unit == 0;
}

/// The names of @p names, as in a sentence.
[[nodiscard]] std::string list(std::span<const std::string_view> names)
{
    std::string text;
    for (const auto name : names)
        text += (text.empty() ? "" : ", ") + std::string{name};
    return text;
}

/// Adds the option @p name, whose value @p take takes or refuses.
void add_value(CLI::App& app,
               const std::string& name,
               const std::string& value,
               const std::string& description,
               const std::string& rule,
               std::function<bool(const std::string&)> take)
{
    app.add_option_function<std::string>(
           name,
           [name, rule, take = std::move(take)](const std::string& text) {
               if (!take(text))
                   throw CLI::ValidationError{
                       name, "'" + printable(text) + "' is not possible; it takes " + rule};
           },
           description)
        ->type_name(value)
        ->take_last();
}

/// Adds the option @p name, whose value is one of @p values.
void add_choice(CLI::App& app,
                const std::string& name,
                std::vector<std::string> values,
                const std::string& description,
                std::function<void(const std::string&)> take)
{
    const auto join = [&](std::string_view separator) {
        std::string text;
        for (const auto& value : values)
            text += (text.empty() ? std::string{} : std::string{separator}) + value;
        return text;
    };
    const auto shown = join("|");
    const auto rule = join(", ");
    add_value(app, name, shown, description, rule,
              [values = std::move(values), take = std::move(take)](const std::string& text) {
                  if (std::ranges::find(values, text) == values.end())
                      return false;
                  take(text);
                  return true;
              });
}

void add_choice(CLI::App& app,
                const std::string& name,
                std::vector<std::string> values,
                const std::string& description,
                std::string& to)
{
    add_choice(app, name, std::move(values), description,
               [&to](const std::string& text) { to = text; });
}

void add_text(CLI::App& app,
              const std::string& name,
              const std::string& value,
              const std::string& description,
              std::function<void(const std::string&)> take)
{
    add_value(app, name, value, description, "a name",
              [take = std::move(take)](const std::string& text) {
                  take(text);
                  return true;
              });
}

/// The name of a file; never empty.
void add_file(CLI::App& app,
              const std::string& name,
              const std::string& description,
              std::string& to)
{
    add_value(app, name, "FILE", description, "the name of a file", [&to](const std::string& text) {
        to = text;
        return !text.empty();
    });
}

void add_backend(CLI::App& app, const std::string& description, Options& options)
{
    add_text(app, "--backend", "NAME", description, [&](const std::string& text) {
        if (text.empty())
            throw CLI::ValidationError{"--backend", "the name of an engine is missing"};
        options.backend = text;
    });
}

/// Makes @p app take the option @p name of another command only to say @p why it is none here.
void refuse(CLI::App& app, const std::string& name, int values, const std::string& why)
{
    app.add_option(
           name,
           [name, why](const CLI::results_t&) -> bool { throw CLI::ValidationError{name, why}; })
        ->expected(values)
        ->group("");
}

/// The words of a command line, told apart.
struct SplitWords
{
    Words options;
    std::optional<std::string> elf;
    Words rest;
};

/// Finds ELF: the first word that is neither an option of @p app nor an option's value. A value
/// that is written `--name=value` becomes a word of its own, so that it may be empty.
[[nodiscard]] SplitWords split(const CLI::App& app, const Words& words, AfterElf after)
{
    SplitWords result;
    bool only_names = false;
    for (std::size_t i = 0; i != words.size(); ++i) {
        const auto& word = words[i];
        if (only_names || !word.starts_with('-') || word == "-") {
            if (result.elf)
                throw Problem{"one ELF is enough: what is '" + printable(word) + "'?"};
            result.elf = word;
            if (after == AfterElf::guest) {
                result.rest.assign(words.begin() + static_cast<std::ptrdiff_t>(i) + 1, words.end());
                return result;
            }
            continue;
        }
        if (word == "--") {
            only_names = true;
            continue;
        }
        const auto equals = word.find('=');
        const auto* const option = app.get_option_no_throw(word.substr(0, equals));
        const bool takes_value = option != nullptr && option->get_items_expected_min() > 0;
        if (!takes_value || equals == std::string::npos)
            result.options.push_back(word);
        if (!takes_value) {
            // A flag that may name a file: `--json -` says what `--json` says.
            if (word == "--json" && i + 1 != words.size() && words[i + 1] == "-")
                ++i;
            continue;
        }
        if (equals != std::string::npos) {
            result.options.push_back(word.substr(0, equals));
            result.options.push_back(word.substr(equals + 1));
        } else if (i + 1 != words.size()) {
            result.options.push_back(words[++i]);
        }
    }
    return result;
}
}  // namespace

Config Options::config() const
{
    Config config;
    config.version = Version{static_cast<std::uint8_t>(vm_version)};
    const bool first_version = config.version == Version::v0;
    const auto extensions = isa.empty() ? std::string{first_version ? "imc" : "imcb"} : isa;
    config.isa_a = extensions.contains('a');
    config.isa_b = extensions.contains('b');
    config.fusion = mop.value_or(!first_version);
    config.cost_model = cost == "constant" ? CostModel::constant()
                        : cost == "zero"   ? CostModel::zero()
                                           : CostModel::standard();
    config.max_cycles = max_cycles;
    config.memory_size = memory;
    config.count_operations = stats;
    if (backend.empty()) {
        config.backend = backends().front();
        return config;
    }
    // Asked for by its name, so that no other engine has to find out whether it can run.
    const auto machine = Machine::create({.backend = backend});
    if (!machine || machine->config().backend != backend)
        throw Problem{"the backend '" + printable(backend) + "' cannot be used: " +
                      (machine ? "it is no engine's name" : printable(machine.error().text)) +
                      "; there is: " + list(backends())};
    config.backend = backend;
    return config;
}

std::vector<std::string_view> Options::guest_arguments() const
{
    std::vector<std::string_view> all;
    all.reserve(arguments.size() + 1);
    if (!no_argv0)
        all.emplace_back(argv0 ? *argv0 : elf);
    all.insert(all.end(), arguments.begin(), arguments.end());
    return all;
}

void add_general_options(CLI::App& app, Options& options)
{
    app.set_help_flag("-h,--help", "Print this help and exit");
    app.get_formatter()->column_width(34);
    app.get_formatter()->label("REQUIRED", "");
    add_choice(app, "--log-level",
               {"trace", "debug", "info", "warn", "warning", "err", "error", "critical", "off"},
               "What mopvm tells on stderr about its own work (warn)", options.log_level);
}

void add_decoding_options(CLI::App& app, Options& options)
{
    add_choice(app, "--vm-version", {"0", "1", "2"}, "Version of the machine (2)",
               [&](const std::string& text) {
                   options.vm_version = static_cast<unsigned>(text.front() - '0');
               });
    add_choice(app, "--isa", {"imc", "imcb", "imca", "imcab"},
               "Instruction set (imcb; imc for version 0)", options.isa);
}

void add_engine_options(CLI::App& app, Options& options)
{
    add_backend(app, "Engine (the best that is built in); never changes a result", options);
    add_choice(app, "--mop", {"on", "off"}, "Macro-op fusion (on; off for version 0)",
               [&](const std::string& text) { options.mop = text == "on"; });
}

void add_loading_options(CLI::App& app, Options& options)
{
    add_value(app, "--memory", "SIZE", "Guest memory in bytes, or with K or M behind it (4M)",
              "a multiple of 256K from 256K to 1024M, for example 4M",
              [&](const std::string& text) {
                  const auto size = parse_size(text);
                  options.memory = size.value_or(0);
                  return size && is_memory_size(*size);
              });
    add_text(app, "--argv0", "NAME", "The guest's argument 0, may be empty (ELF as given)",
             [&](const std::string& text) { options.argv0 = text; });
    app.add_flag("--no-argv0", options.no_argv0, "Pass ARGS alone")->disable_flag_override();
}

void add_execution_options(CLI::App& app, Options& options)
{
    add_choice(app, "--cost", {"standard", "constant", "zero"}, "Cost model (standard)",
               options.cost);
    add_value(app, "--max-cycles", "N", "Stop before the operation that would pass N (2^64-1)",
              "a decimal number from 0 to 2^64-1", [&](const std::string& text) {
                  const auto value = parse_number(text);
                  options.max_cycles = value.value_or(0);
                  return value.has_value();
              });
    add_choice(app, "--syscalls", {"ckb", "posix"},
               "System calls: the chain's alone, or Linux numbers too (posix)", options.syscalls);
}

void add_run_options(CLI::App& app, Options& options)
{
    app.add_flag("--host-time", options.host_time,
                 "Let posix guests see the time; runs are no longer repeatable")
        ->disable_flag_override();
    app.add_flag("--stats", options.stats, "Count operations, instructions and fused operations")
        ->disable_flag_override();
    add_file(app, "--json", "Write one JSON object about the run; - is stdout", options.json);
    add_file(app, "--stdin", "The guest's input; - is stdin (-; empty in a batch)",
             options.stdin_file);
    add_file(app, "--batch", "Run one case for each line of FILE; - is stdin", options.batch);
}

void add_compare_options(CLI::App& app, Options& options)
{
    add_backend(app, "The one engine to run on (all that are built in)", options);
    add_value(app, "--repeat", "N", "Time each series N times; the fastest counts (5)",
              "a decimal number from 1 to 1000000", [&](const std::string& text) {
                  options.repeat = parse_number(text).value_or(0);
                  return options.repeat >= 1 && options.repeat <= max_repeat;
              });
    add_file(app, "--json", "Write one JSON object too; - is stdout, in place of the tables",
             options.json);
    add_file(app, "--stdin", "The guest's input, the same for every run; - is stdin (-)",
             options.stdin_file);
    refuse(app, "--mop", 1, "every program is run with fusion off and on");
    refuse(app, "--host-time", 0, "a guest that sees the time is not the same in any two runs");
}

void add_json_flag(CLI::App& app, Options& options)
{
    app.add_flag("--json{-}", options.json, "Write JSON; --json=FILE writes it to a file");
}

bool parse(CLI::App& app, Options& options, const Words& words, AfterElf after)
try {
    auto split_words = split(app, words, after);
    // The parser takes words from the end.
    std::ranges::reverse(split_words.options);
    app.parse(std::move(split_words.options));
    if (!split_words.elf && options.batch.empty())
        throw Problem{"ELF is missing: which program? See " + app.get_name() + " --help"};
    if (split_words.elf && !options.batch.empty())
        throw Problem{"--batch takes its programs from its lines: what is '" +
                      printable(*split_words.elf) + "'?"};
    options.elf = split_words.elf.value_or("");
    options.arguments = std::move(split_words.rest);
    return true;
} catch (const CLI::CallForHelp&) {
    return false;
} catch (const CLI::ParseError& error) {
    throw Problem{printable(error.what()) + "; see " + app.get_name() + " --help"};
}
}  // namespace mopvm::tool
