// SPDX-License-Identifier: MIT
// Reports about runs.

#include "run_report.hpp"

#include "text.hpp"

#include <glib.h>
#include <memory>
#include <numeric>

namespace mopvm::tool
{
namespace
{
/// Largest integer that every reader of JSON keeps exact.
constexpr std::uint64_t max_exact = std::uint64_t{1} << 53;

[[nodiscard]] Json number(std::uint64_t value)
{
    return value > max_exact ? Json(hex(value)) : Json(value);
}

[[nodiscard]] std::string base64(const std::string& bytes)
{
    const auto* const data = reinterpret_cast<const guchar*>(bytes.data());
    const std::unique_ptr<gchar, decltype(&g_free)> text{g_base64_encode(data, bytes.size()),
                                                         g_free};
    return text.get();
}

[[nodiscard]] Json fused_json(const Stats& stats)
{
    Json fused = Json::object();
    for (std::size_t i = 0; i != fusion_rule_count; ++i)
        fused[std::string{name(FusionRule{static_cast<std::uint8_t>(i)})}] = stats.fused[i];
    return fused;
}
}  // namespace

std::string to_line(const Json& json)
{
    return json.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

Json config_json(const Options& options, const Config& config)
{
    const auto isa = std::string{"imc"} + (config.isa_a ? "a" : "") + (config.isa_b ? "b" : "");
    const auto first = options.argv0 ? *options.argv0 : options.elf;
    return {
        {"elf", options.elf},
        {"backend", config.backend},
        {"mop", config.fusion ? "on" : "off"},
        {"vm_version", options.vm_version},
        {"isa", isa},
        {"cost", options.cost},
        {"max_cycles", config.max_cycles},
        {"memory", config.memory_size},
        {"argv0", options.no_argv0 ? Json(nullptr) : Json(first)},
        {"syscalls", options.syscalls},
        {"host_time", options.host_time},
        {"stats", options.stats},
    };
}

Json error_detail(const Error& error)
{
    Json detail = Json::object();
    switch (error.code) {
    case ErrorCode::mem_out_of_bound:
        detail["address"] = hex(error.address);
        detail["kind"] = name(error.kind);
        break;
    case ErrorCode::mem_page_unaligned_access:
    case ErrorCode::elf_segment_unreadable:
    case ErrorCode::elf_segment_writable_and_executable:
    case ErrorCode::elf_segment_addr_or_size_error:
        detail["address"] = hex(error.address);
        break;
    case ErrorCode::mem_write_on_executable_page:
    case ErrorCode::mem_write_on_frozen_page:
        detail["page"] = number(error.address);
        break;
    case ErrorCode::invalid_instruction:
        detail["pc"] = hex(error.address);
        detail["bits"] = error.bits;
        break;
    case ErrorCode::invalid_ecall:
        detail["number"] = number(error.address);
        break;
    default:
        if (!error.text.empty())
            detail["text"] = error.text;
        break;
    }
    return detail;
}

Json run_json(const Options& options, const Config& config, const RunResult& result)
{
    const auto& exit = result.exit;
    const bool exited = exit.reason == Exit::Reason::exited;
    const bool failed = exit.reason == Exit::Reason::error;
    const auto if_counted = [&](Json value) { return options.stats ? std::move(value) : Json(); };

    Json registers = Json::array();
    for (const auto value : result.registers)
        registers.push_back(hex(value));

    Json json = Json::object();
    json["status"] = name(exit.reason);
    json["exit_code"] = exited ? Json(static_cast<int>(exit.exit_code)) : Json();
    json["error"] = failed ? Json(name(exit.error.code)) : Json();
    json["error_detail"] = failed ? error_detail(exit.error) : Json();
    json["error_address"] =
        failed && has_address(exit.error.code) ? Json(hex(exit.error.address)) : Json();
    json["message"] = result.message;
    json["cycles"] = exit.cycles;
    json["operations"] = if_counted(result.stats.operations);
    json["instructions"] = if_counted(result.stats.instructions);
    json["pc"] = hex(exit.pc);
    json["registers"] = std::move(registers);
    json["fused"] = if_counted(fused_json(result.stats));
    json["config"] = config_json(options, config);
    json["host"] = {
        {"load_ns", result.host.load_ns},
        {"run_ns", result.host.run_ns},
        {"tsc_cycles", result.host.tsc_cycles ? Json(*result.host.tsc_cycles) : Json()},
    };
    return json;
}

void add_output(Json& json, const CapturedStreams& streams)
{
    const auto add = [&](const std::string& key, int fd) {
        const std::string_view bytes = streams.output(fd);
        const auto text = streams.truncated(fd) ? bytes.substr(0, whole_characters(bytes)) : bytes;
        if (is_utf8(text))
            json[key] = text;
        else
            json[key + "_base64"] = base64(streams.output(fd));
    };
    add("stdout", 1);
    add("stderr", 2);
    json["truncated"] = streams.truncated(1) || streams.truncated(2);
}

std::uint64_t fused_operations(const Stats& stats) noexcept
{
    return std::accumulate(stats.fused.begin(), stats.fused.end(), std::uint64_t{0});
}

double percent_of_operations(std::uint64_t count, const Stats& stats) noexcept
{
    return stats.operations == 0
               ? 0.0
               : 100.0 * static_cast<double>(count) / static_cast<double>(stats.operations);
}

std::string summary(const RunResult& result)
{
    const auto& stats = result.stats;
    const auto fused = fused_operations(stats);
    std::string text =
        "mopvm: " + std::to_string(result.exit.cycles) + " cycles, " +
        std::to_string(stats.operations) + " operations, " + std::to_string(stats.instructions) +
        " instructions\nmopvm: " + std::to_string(fused) + " operations are fused (" +
        fixed(percent_of_operations(fused, stats), 2) + " %)\n";
    for (std::size_t i = 0; i != fusion_rule_count; ++i) {
        if (stats.fused[i] != 0)
            text += "mopvm:   " + std::string{name(FusionRule{static_cast<std::uint8_t>(i)})} +
                    " " + std::to_string(stats.fused[i]) + "\n";
    }
    return text;
}
}  // namespace mopvm::tool
