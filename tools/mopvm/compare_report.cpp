// SPDX-License-Identifier: MIT
// Reports about comparisons.

#include "compare_report.hpp"

#include "table.hpp"
#include "text.hpp"

#include <algorithm>
#include <functional>

namespace mopvm::tool
{
namespace
{
using Number = std::optional<std::uint64_t>;

/// A figure of each fusion setting; nothing where it is not known.
struct Pair
{
    Number off;
    Number on;
};

[[nodiscard]] std::optional<double> change_of(const Pair& pair) noexcept
{
    return pair.off && pair.on ? change_percent(*pair.off, *pair.on) : std::nullopt;
}

/// One figure of the counted runs.
[[nodiscard]] Pair counted_pair(const CountedRuns& runs,
                                std::uint64_t (*figure)(const RunResult&) noexcept)
{
    return {.off = figure(runs.off.result), .on = figure(runs.on.result)};
}

[[nodiscard]] Number nanoseconds(const RunTime& time) noexcept
{
    return time.ns;
}

[[nodiscard]] Number tsc_cycles(const RunTime& time) noexcept
{
    return time.tsc_cycles;
}

/// One figure of one engine's runs; @p which are the cold ones or the warm ones.
[[nodiscard]] Pair timed_pair(const EngineTimes& engine,
                              std::optional<RunTime> Series::* which,
                              Number (*figure)(const RunTime&) noexcept)
{
    const auto of = [&](const Series& series) {
        return series.*which ? figure(*(series.*which)) : Number{};
    };
    return {.off = of(engine.series[0]), .on = of(engine.series[1])};
}

[[nodiscard]] std::uint64_t cycles(const RunResult& result) noexcept
{
    return result.exit.cycles;
}

[[nodiscard]] std::uint64_t operations(const RunResult& result) noexcept
{
    return result.stats.operations;
}

[[nodiscard]] std::uint64_t instructions(const RunResult& result) noexcept
{
    return result.stats.instructions;
}

[[nodiscard]] std::uint64_t fused(const RunResult& result) noexcept
{
    return fused_operations(result.stats);
}

template <typename T>
[[nodiscard]] Json or_null(const std::optional<T>& value)
{
    return value ? Json(*value) : Json();
}

[[nodiscard]] Json counted_json(const CountedRun& run)
{
    auto json = run_json(run.options, run.config, run.result);
    json.erase("host");  // counting costs time
    const auto& stats = run.result.stats;
    json["fused_operations"] = fused_operations(stats);
    json["fused_percent"] = percent_of_operations(fused_operations(stats), stats);
    return json;
}

[[nodiscard]] Json time_json(const std::optional<RunTime>& time)
{
    if (!time)
        return {};
    return {{"run_ns", time->ns}, {"tsc_cycles", or_null(time->tsc_cycles)}};
}

[[nodiscard]] Json series_json(const Comparison& comparison)
{
    Json json = Json::object();
    for (const auto& engine : comparison.engines) {
        for (const bool fusion : {false, true}) {
            const auto& series = engine.series[fusion ? 1 : 0];
            json[series.name] = {
                {"backend", engine.backend},
                {"mop", fusion ? "on" : "off"},
                {"cold", time_json(series.cold)},
                {"warm", time_json(series.warm)},
            };
        }
    }
    return json;
}

[[nodiscard]] Json change_json(const Comparison& comparison)
{
    Json run_ns = Json::object();
    Json tsc = Json::object();
    for (const auto& engine : comparison.engines) {
        run_ns[engine.backend] = or_null(change_of(timed_pair(engine, &Series::warm, nanoseconds)));
        tsc[engine.backend] = or_null(change_of(timed_pair(engine, &Series::warm, tsc_cycles)));
    }
    const auto of_counts = [&](std::uint64_t (*figure)(const RunResult&) noexcept) {
        return comparison.counted ? or_null(change_of(counted_pair(*comparison.counted, figure)))
                                  : Json();
    };
    return {
        {"cycles", of_counts(cycles)},
        {"operations", of_counts(operations)},
        {"run_ns", std::move(run_ns)},
        {"tsc_cycles", std::move(tsc)},
    };
}

[[nodiscard]] std::string percent(double value)
{
    return fixed(value, 2) + " %";
}

/// A unit in which times are shown.
struct Unit
{
    const char* name;
    double nanoseconds;
    int decimals;
};

[[nodiscard]] std::string in_unit(std::uint64_t nanoseconds, const Unit& unit)
{
    return fixed(static_cast<double>(nanoseconds) / unit.nanoseconds, unit.decimals) + " " +
           unit.name;
}

/// The unit for all times of @p comparison, chosen by the least of them.
[[nodiscard]] Unit time_unit(const Comparison& comparison) noexcept
{
    constexpr Unit fine{.name = "ns", .nanoseconds = 1, .decimals = 0};
    constexpr Unit coarse{.name = "ms", .nanoseconds = 1e6, .decimals = 3};
    for (const auto& engine : comparison.engines) {
        for (const auto& series : engine.series) {
            if (series.warm && static_cast<double>(series.warm->ns) < coarse.nanoseconds)
                return fine;
        }
    }
    return coarse;
}

/// Adds the row of a figure; none when it is not known of either setting.
void add_row(Table& table,
             const std::string& name,
             const Pair& pair,
             const std::function<std::string(std::uint64_t)>& show)
{
    if (!pair.off && !pair.on)
        return;
    const auto change = change_of(pair);
    table.add({name, pair.off ? show(*pair.off) : "", pair.on ? show(*pair.on) : "",
               change ? (*change > 0 ? "+" : "") + percent(*change) : ""});
}

/// The figures of the host, a heading and a row for each engine.
struct HostFigure
{
    const char* heading;
    std::optional<RunTime> Series::* which;
    Number (*figure)(const RunTime&) noexcept;
};

constexpr std::array host_figures{
    HostFigure{"host time, warm", &Series::warm, nanoseconds},
    HostFigure{"host cycles, warm", &Series::warm, tsc_cycles},
    HostFigure{"host time, cold", &Series::cold, nanoseconds},
    HostFigure{"host cycles, cold", &Series::cold, tsc_cycles},
};

void add_host_figures(Table& table, const Comparison& comparison)
{
    const auto unit = time_unit(comparison);
    for (const auto& [heading, which, figure] : host_figures) {
        const bool is_time = figure == nanoseconds;
        Table rows;
        for (const auto& engine : comparison.engines)
            add_row(rows, "  " + engine.backend, timed_pair(engine, which, figure),
                    [&](std::uint64_t value) {
                        return is_time ? in_unit(value, unit) : std::to_string(value);
                    });
        table.add_under(heading, std::move(rows));
    }
}

[[nodiscard]] std::string describe_end(const RunResult& result)
{
    return result.exit.reason == Exit::Reason::exited
               ? "exit code " + std::to_string(result.exit.exit_code)
               : std::string{name(result.exit.error.code)};
}

[[nodiscard]] std::string fused_text(const Stats& stats)
{
    const auto all = fused_operations(stats);
    if (all == 0)
        return "No operation was fused.\n";
    Table table;
    table.add({"fused operation", "executed", "of all operations"});
    const auto add = [&](const std::string& rule, std::uint64_t count) {
        table.add({rule, std::to_string(count), percent(percent_of_operations(count, stats))});
    };
    for (std::size_t i = 0; i != fusion_rule_count; ++i) {
        if (stats.fused[i] != 0)
            add(std::string{name(FusionRule{static_cast<std::uint8_t>(i)})}, stats.fused[i]);
    }
    add("all of them", all);
    return table.text();
}
}  // namespace

Json comparison_json(const Options& options, const Comparison& comparison)
{
    Json json = Json::object();
    json["status"] = name(comparison.status);
    json["problems"] = comparison.problems;
    json["repeat"] = options.repeat;
    const auto& counted = comparison.counted;
    json["fusion"] = {{"off", counted ? counted_json(counted->off) : Json()},
                      {"on", counted ? counted_json(counted->on) : Json()}};
    json["change_percent"] = change_json(comparison);
    json["series"] = series_json(comparison);
    return json;
}

std::string comparison_text(const Options& options, const Comparison& comparison)
{
    if (!comparison.counted)
        return {};
    const auto& counted = *comparison.counted;
    const auto& off = counted.off.result;
    const auto& on = counted.on.result;
    if (!off.loaded || !on.loaded)
        return {};
    const auto show = [](std::uint64_t value) { return std::to_string(value); };
    Table table;
    table.add({"", "fusion off", "fusion on", "change"});
    table.add({"end", describe_end(off), describe_end(on)});
    add_row(table, "VM cycles", counted_pair(counted, cycles), show);
    add_row(table, "instructions", counted_pair(counted, instructions), show);
    add_row(table, "operations", counted_pair(counted, operations), show);
    add_row(table, "fused operations", counted_pair(counted, fused), show);
    add_host_figures(table, comparison);
    const auto runs = options.repeat == 1
                          ? std::string{"one run"}
                          : "fastest of " + std::to_string(options.repeat) + " runs";
    return printable(options.elf) + ", VM version " + std::to_string(options.vm_version) + ", " +
           runs + " each\n\n" + table.text() + "\n" + fused_text(on.stats);
}
}  // namespace mopvm::tool
