// SPDX-License-Identifier: MIT
// Runs of one program without and with fusion.

#include "comparison.hpp"

#include "ending.hpp"
#include "interrupt.hpp"
#include "problem.hpp"
#include "progress.hpp"

#include <algorithm>
#include <memory>
#include <utility>

namespace mopvm::tool
{
namespace
{
constexpr std::array fusion_settings{false, true};

[[nodiscard]] std::string series_name(const std::string& backend, bool fusion)
{
    return backend + (fusion ? "+mop" : "");
}

[[nodiscard]] Ending ending_of(const RunResult& result, const CapturedStreams& streams)
{
    const auto output = [&](int fd) {
        return GuestOutput{.kept = streams.output(fd), .written = streams.written(fd)};
    };
    return {.exit = result.exit, .registers = result.registers, .outputs = {output(1), output(2)}};
}

/// Makes @p least the least of itself and @p time.
void add(std::optional<RunTime>& least, const RunTime& time) noexcept
{
    if (!least)
        least = time;
    least->ns = std::min(least->ns, time.ns);
    least->tsc_cycles = std::min(least->tsc_cycles, time.tsc_cycles);
}

/// A series with what its runs need.
struct RunningSeries
{
    Series* series;
    Options options;
    Config config;
};

/// Makes all runs, one after another, until one of them leaves nothing to go on with.
class Measurement
{
public:
    Measurement(const Options& options,
                const std::vector<std::string>& backends,
                std::span<const std::byte> file,
                RecordedInput& input)
        : m_options{&options}, m_file{file}, m_input{&input}
    {
        for (const auto& backend : backends) {
            auto& engine = m_comparison.engines.emplace_back(backend);
            for (const bool fusion : fusion_settings)
                engine.series[fusion ? 1 : 0].name = series_name(backend, fusion);
        }
    }

    [[nodiscard]] Comparison run()
    {
        Progress progress{fusion_settings.size() *
                          (1 + 2 * m_options->repeat * m_comparison.engines.size())};
        const InterruptGuard guard;
        auto off = count(progress, false);
        auto on = off ? count(progress, true) : std::nullopt;
        if (off && on) {
            const auto& counted = m_comparison.counted.emplace(*std::move(off), *std::move(on));
            if (judge(counted.off.result, counted.on.result))
                take_times(progress);
        }
        return std::move(m_comparison);
    }

private:
    /// The options of the runs on @p backend.
    [[nodiscard]] Options options_for(const std::string& backend, bool fusion) const
    {
        auto options = *m_options;
        options.backend = backend;
        options.mop = fusion;
        return options;
    }

    /// Runs once to count. @return nothing when Ctrl-C ended it.
    [[nodiscard]] std::optional<CountedRun> count(Progress& progress, bool fusion)
    {
        // Counts are equal in every engine; the first is the fastest.
        const auto& backend = m_comparison.engines.front().backend;
        const auto series = series_name(backend, fusion);
        progress.next(series + ", counting");
        auto options = options_for(backend, fusion);
        options.stats = true;
        auto config = options.config();
        const auto streams = std::make_shared<ReplayStreams>(*m_input);
        auto result = run_guest(options, config, m_file, streams);
        if (stopped(result, series))
            return std::nullopt;
        m_expected[fusion ? 1 : 0] = ending_of(result, streams->captured());
        return CountedRun{.options = std::move(options),
                          .config = std::move(config),
                          .result = std::move(result)};
    }

    /// Looks at how the counted runs ended. @return whether to go on: a run that ends with an error
    /// can be timed like any other, but a program that is refused cannot.
    [[nodiscard]] bool judge(const RunResult& off, const RunResult& on)
    {
        if (off.exit.reason == Exit::Reason::error || on.exit.reason == Exit::Reason::error) {
            m_comparison.status = Comparison::Status::error;
            m_comparison.problems = {"fusion off: " + off.message, "fusion on: " + on.message};
            return off.loaded && on.loaded;
        }
        const auto seen = visible_difference(m_expected[0], m_expected[1]);
        if (!seen.empty())
            disagree("with fusion the program does something else: " + seen +
                     ". Either it looks at the cycle counter, or at one of the differences that "
                     "docs/fusion.md lists");
        return true;
    }

    /// Times all series, by turns.
    void take_times(Progress& progress)
    {
        auto running = start_series();
        for (std::uint64_t turn = 1; turn <= m_options->repeat; ++turn) {
            for (auto& series : running) {
                if (!take_turn(progress, series, turn))
                    return;
            }
        }
    }

    [[nodiscard]] std::vector<RunningSeries> start_series()
    {
        std::vector<RunningSeries> all;
        for (auto& engine : m_comparison.engines) {
            for (const bool fusion : fusion_settings) {
                auto options = options_for(engine.backend, fusion);
                auto config = options.config();
                all.push_back({.series = &engine.series[fusion ? 1 : 0],
                               .options = std::move(options),
                               .config = std::move(config)});
            }
        }
        return all;
    }

    /// Makes a cold run of a series and a warm one. @return whether to go on.
    [[nodiscard]] bool take_turn(Progress& progress, RunningSeries& running, std::uint64_t turn)
    {
        // A program of its own, of which nothing has been decoded.
        const auto program = Program::from_elf(m_file);
        if (!program)
            throw Problem{message(program.error())};
        auto& series = *running.series;
        for (auto* const time : {&series.cold, &series.warm}) {
            const auto name = series.name + (time == &series.cold ? ", cold" : ", warm") + " run " +
                              std::to_string(turn);
            progress.next(name);
            const auto streams = std::make_shared<ReplayStreams>(*m_input);
            const auto result = run_program(running.options, running.config, *program, streams);
            if (stopped(result, name))
                return false;
            if (!is_expected(ending_of(result, streams->captured()), running.config.fusion, name))
                return false;
            add(*time, {.ns = result.host.run_ns, .tsc_cycles = result.host.tsc_cycles});
        }
        return true;
    }

    /// True when the end of the run called @p name is that of the counted run.
    [[nodiscard]] bool is_expected(const Ending& ending, bool fusion, const std::string& name)
    {
        const auto differs = difference(m_expected[fusion ? 1 : 0], ending);
        if (differs.empty())
            return true;
        disagree(name + ", differs from the counted run of " +
                 series_name(m_comparison.engines.front().backend, fusion) + ": " + differs +
                 ". With one fusion setting all runs must be the same: this is a fault of mopvm or "
                 "of the host, and no figure here can be trusted");
        return false;
    }

    /// True when the run was not the guest's to end.
    /// @throws Problem  when the host failed.
    [[nodiscard]] bool stopped(const RunResult& result, const std::string& series)
    {
        if (is_host_failure(result.exit))
            throw Problem{series + ": " + result.message};
        // A guest may end before it sees the request.
        if (!interrupted() && result.exit.reason != Exit::Reason::paused)
            return false;
        m_comparison.status = Comparison::Status::paused;
        m_comparison.problems.emplace_back("Ctrl-C came before all runs were done");
        return true;
    }

    void disagree(std::string problem)
    {
        m_comparison.status = Comparison::Status::disagreed;
        m_comparison.problems.push_back(std::move(problem));
    }

    const Options* m_options;
    std::span<const std::byte> m_file;
    RecordedInput* m_input;
    Comparison m_comparison;
    std::array<Ending, 2> m_expected;  ///< Of the counted runs.
};
}  // namespace

std::string_view name(Comparison::Status status) noexcept
{
    constexpr std::array<std::string_view, 4> names{"agreed", "disagreed", "error", "paused"};
    return names[static_cast<std::size_t>(status)];
}

Comparison compare_runs(const Options& options,
                        const std::vector<std::string>& backends,
                        std::span<const std::byte> file,
                        RecordedInput& input)
{
    return Measurement{options, backends, file, input}.run();
}

std::optional<double> change_percent(std::uint64_t off, std::uint64_t on) noexcept
{
    if (off == 0)
        return std::nullopt;
    return 100.0 * (static_cast<double>(on) - static_cast<double>(off)) / static_cast<double>(off);
}
}  // namespace mopvm::tool
