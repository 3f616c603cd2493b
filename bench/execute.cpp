// SPDX-License-Identifier: MIT
// Running guests: with everything decoded already, and from nothing; one that exits at once; and
// the same loops natively.

#include "guest.hpp"
#include "registration.hpp"
#include "runner.hpp"

namespace mopvm::bench
{
namespace
{
void report(benchmark::State& state, const Counts& counts)
{
    state.counters["cycles"] = total(counts.cycles);
    state.counters["operations"] = total(counts.operations);
    state.counters["instructions"] = total(counts.instructions);
    state.counters["per_instruction"] = time_per(counts.instructions);
}

/// The run alone. Resetting and loading the machine is not timed.
void execute(benchmark::State& state, const Guest& guest, const Config& config)
{
    Runner runner{guest, config};
    runner.create();
    for ([[maybe_unused]] auto iteration : state) {
        state.PauseTiming();
        runner.reset();
        runner.load();
        state.ResumeTiming();
        const Exit exit = runner.run();
        runner.check(exit);
    }
    report(state, runner.counts());
}

/// Creation, load and run of a program that has been parsed, and of which nothing has been decoded.
void cold(benchmark::State& state, const Guest& guest, const Config& config)
{
    Runner runner{guest, config};
    for ([[maybe_unused]] auto iteration : state) {
        state.PauseTiming();
        runner.destroy();
        runner.forget_code();
        state.ResumeTiming();
        runner.create();
        runner.load();
        const Exit exit = runner.run();
        runner.check(exit);
    }
    report(state, runner.counts());
}

/// The whole life of a machine whose program has been parsed and decoded before.
void exit_at_once(benchmark::State& state, const Config& config)
{
    Runner runner{exiting_guest(), config};
    for ([[maybe_unused]] auto iteration : state) {
        runner.create();
        runner.load();
        const Exit exit = runner.run();
        runner.check(exit);
        runner.destroy();
    }
    report(state, runner.counts());
}

void execute_natively(benchmark::State& state, const Kernel& kernel)
{
    for ([[maybe_unused]] auto iteration : state) {
        std::uint64_t n = kernel.size;
        benchmark::DoNotOptimize(n);
        benchmark::DoNotOptimize(kernel.run(n));
    }
}
}  // namespace

void add_execute(const std::vector<Guest>& guests)
{
    for (const Kernel& kernel : kernels()) {
        add("native/execute/" + std::string{kernel.name},
            [kernel](benchmark::State& state) { execute_natively(state, kernel); });
    }
    for (const Engine& engine : engines()) {
        add(engine.name + "/create+load+run/exit",
            [=](benchmark::State& state) { exit_at_once(state, engine.config); });
    }
    for (const Guest& guest : guests) {
        for (const Engine& engine : engines()) {
            add(engine.name + "/execute/" + guest.name,
                [=](benchmark::State& state) { execute(state, guest, engine.config); });
            add(engine.name + "/cold/" + guest.name,
                [=](benchmark::State& state) { cold(state, guest, engine.config); });
        }
    }
}
}  // namespace mopvm::bench
