// SPDX-License-Identifier: MIT
// mopvm info

#include "commands.hpp"
#include "elf_headers.hpp"
#include "files.hpp"
#include "problem.hpp"
#include "run_report.hpp"
#include "symbols.hpp"
#include "text.hpp"

#include <mopvm/machine.hpp>

#include <optional>

namespace mopvm::tool
{
namespace
{
/// Bytes that loading costs one cycle.
constexpr std::uint64_t bytes_per_cycle = 4;

/// What is known about a program file.
struct Report
{
    std::uint64_t file_size = 0;
    std::optional<Program> program;  ///< Nothing when its headers are refused.
    std::string entry_symbol;
    std::optional<std::uint64_t>
        loaded_bytes;              ///< Segments and stack; nothing if it does not load.
    std::optional<Error> refusal;  ///< Why it does not load.
    std::vector<std::string> warnings;
};

/// Loads the program as `run` would.
[[nodiscard]] Report examine(const Options& options,
                             const Config& config,
                             std::span<const std::byte> file)
{
    Report report;
    report.file_size = file.size();
    auto program = Program::from_elf(file);
    if (!program) {
        report.refusal = std::move(program.error());
        return report;
    }
    report.entry_symbol = Symbols{*program}.place(program->entry());
    report.warnings = find_oddities(*program);
    report.program = *std::move(program);

    auto machine = Machine::create(config);
    if (!machine) {
        report.refusal = std::move(machine.error());
        return report;
    }
    const auto loaded = machine->load(*report.program, options.guest_arguments());
    if (loaded)
        report.loaded_bytes = *loaded;
    else
        report.refusal = loaded.error();
    return report;
}

[[nodiscard]] std::uint64_t load_cycles(std::uint64_t bytes) noexcept
{
    return bytes / bytes_per_cycle + (bytes % bytes_per_cycle != 0 ? 1 : 0);
}

[[nodiscard]] std::string permissions(const Segment& segment)
{
    std::string text = "---";
    if ((segment.elf_flags & 4) != 0)
        text[0] = 'r';
    if ((segment.elf_flags & 2) != 0)
        text[1] = 'w';
    if ((segment.elf_flags & 1) != 0)
        text[2] = 'x';
    return text;
}

[[nodiscard]] Json to_json(const Report& report, const Options& options, const Config& config)
{
    Json segments = Json::array();
    if (report.program) {
        for (const auto& segment : report.program->segments())
            segments.push_back({
                {"address", hex(segment.address + segment.padding)},
                {"first_page", hex(segment.address)},
                {"size", segment.size},
                {"permissions", permissions(segment)},
                {"file_offset", segment.file_offset},
                {"file_size", segment.file_size},
            });
    }
    Json json = Json::object();
    json["elf"] = options.elf;
    json["file_size"] = report.file_size;
    json["entry"] = report.program ? Json(hex(report.program->entry())) : Json();
    json["entry_symbol"] = report.entry_symbol.empty() ? Json() : Json(report.entry_symbol);
    json["segments"] = std::move(segments);
    json["loads"] = !report.refusal;
    json["error"] = report.refusal ? Json(name(report.refusal->code)) : Json();
    json["error_detail"] = report.refusal ? error_detail(*report.refusal) : Json();
    json["message"] = report.refusal ? message(*report.refusal) : "the program loads";
    json["loaded_bytes"] = report.loaded_bytes ? Json(*report.loaded_bytes) : Json();
    json["load_cycles"] = report.loaded_bytes ? Json(load_cycles(*report.loaded_bytes)) : Json();
    json["warnings"] = report.warnings;
    json["config"] = {
        {"mop", config.fusion ? "on" : "off"},
        {"vm_version", options.vm_version},
        {"memory", config.memory_size},
        {"argv0", options.no_argv0 ? Json() : Json(options.argv0.value_or(options.elf))},
    };
    return json;
}

[[nodiscard]] std::string to_text(const Report& report, const Options& options)
{
    std::string text =
        printable(options.elf) + ": " + std::to_string(report.file_size) + " bytes\n";
    if (report.program) {
        text += "entry     " + hex(report.program->entry()) +
                (report.entry_symbol.empty() ? "" : " <" + report.entry_symbol + ">") + "\n";
        for (const auto& segment : report.program->segments())
            text += "segment   " + permissions(segment) + " " +
                    hex(segment.address + segment.padding) + ", " + std::to_string(segment.size) +
                    " bytes of pages from " + hex(segment.address) + "; file " +
                    hex(segment.file_offset) + ", " + std::to_string(segment.file_size) +
                    " bytes\n";
    }
    if (report.loaded_bytes)
        text += "loads     yes: " + std::to_string(*report.loaded_bytes) +
                " bytes of segments and stack; a node charges " +
                std::to_string(load_cycles(*report.loaded_bytes)) + " cycles for them\n";
    else if (report.refusal)
        text += "loads     no: " + std::string{name(report.refusal->code)} + ": " +
                printable(message(*report.refusal)) + "\n";
    for (const auto& warning : report.warnings)
        text += "warning   " + warning + "\n";
    return text;
}
}  // namespace

int info(const Command& command, const Words& words)
{
    Options options;
    const auto app = make_parser(command);
    add_engine_options(*app, options);
    add_loading_options(*app, options);
    add_decoding_options(*app, options);
    add_json_flag(*app, options);
    add_general_options(*app, options);
    if (!parse(*app, options, words, AfterElf::options)) {
        print_help(*app);
        return status_success;
    }
    set_log_level(options.log_level);

    const auto config = options.config();
    const auto file = read_program_file(options.elf);
    const auto report = examine(options, config, file);
    if (report.refusal && (report.refusal->code == ErrorCode::out_of_memory ||
                           report.refusal->code == ErrorCode::invalid_config ||
                           report.refusal->code == ErrorCode::backend_unavailable))
        throw Problem{message(*report.refusal)};
    Output out{options.json.empty() ? "-" : options.json};
    out.write(options.json.empty() ? to_text(report, options)
                                   : to_line(to_json(report, options, config)));
    out.flush();
    return report.refusal ? status_vm_error : status_success;
}
}  // namespace mopvm::tool
