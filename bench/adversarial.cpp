// SPDX-License-Identifier: MIT
// What the worst guests cost their host for each cycle, and the worst file for each byte.

#include "adversary.hpp"
#include "guest.hpp"
#include "registration.hpp"
#include "runner.hpp"

#include <mopvm/machine.hpp>
#include <mopvm/syscalls.hpp>

#include <malloc.h>

#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace mopvm::bench
{
namespace
{
constexpr std::array<std::string_view, 1> one_argument{"decode"};
constexpr std::int64_t few = 5;

/// A machine with @p program loaded.
Machine machine_with(const Program& program,
                     const Config& config,
                     std::span<const std::string_view> arguments = {})
{
    Machine machine = value_of(Machine::create(config));
    value_of(machine.add_syscalls(make_ckb_syscalls(std::make_shared<Streams>(""))));
    value_of(machine.load(program, arguments));
    return machine;
}

/// Runs @p machine until it ends or has spent what the adversary may.
Exit run(Machine& machine, const Adversary& adversary)
{
    std::uint64_t limit = 0;
    for (;;) {
        limit +=
            std::min(adversary.slice.value_or(adversary.max_cycles), adversary.max_cycles - limit);
        machine.set_max_cycles(limit);
        Exit exit = machine.run();
        if (exit.error.code != ErrorCode::cycles_exceeded || limit == adversary.max_cycles)
            return exit;
    }
}

void check(const Exit& exit, const Adversary& adversary)
{
    const bool exited = exit.reason == Exit::Reason::exited && exit.exit_code == 0;
    const bool failed = exit.reason == Exit::Reason::error && exit.error.code == adversary.error;
    if (adversary.error ? !failed : !exited)
        throw std::runtime_error{"the guest ended in another way: " + message(exit.error)};
}

/// The run of a program of which nothing has been decoded, and the end of its machine and of what
/// was decoded; of one that was decoded before the run alone.
void attack(benchmark::State& state, const NamedAdversary& which, Config config)
{
    const Adversary adversary = which.make();
    config.memory_size = adversary.memory_size;
    config.isa_a = adversary.isa_a;
    std::optional<std::uint64_t> cycles;
    std::optional<Program> program;
    std::vector<Machine> earlier;
    std::optional<Machine> machine;
    for ([[maybe_unused]] auto iteration : state) {
        state.PauseTiming();
        machine.reset();
        earlier.clear();
        program = value_of(Program::from_elf(adversary.file));
        ::malloc_trim(0);  // what is decoded now goes where the host must supply memory
        if (adversary.decoded_before)
            static_cast<void>(
                earlier.emplace_back(machine_with(*program, config, one_argument)).run());
        machine = machine_with(*program, config);
        state.ResumeTiming();
        const Exit exit = run(*machine, adversary);
        if (!adversary.decoded_before) {
            machine.reset();
            program.reset();
        }
        state.PauseTiming();
        check(exit, adversary);
        if (exit.cycles != cycles.value_or(exit.cycles))
            throw std::runtime_error{"the cycles differ from those of the first run"};
        cycles = exit.cycles;
        state.ResumeTiming();
    }
    state.counters["cycles"] = total(*cycles);
    state.counters["per_cycle"] = time_per(*cycles);
}

void load_overlapping(benchmark::State& state, std::uint64_t memory_size)
{
    const Program program = value_of(Program::from_elf(overlapping_headers(memory_size)));
    Machine machine = value_of(Machine::create({.memory_size = memory_size}));
    for ([[maybe_unused]] auto iteration : state) {
        state.PauseTiming();
        value_of(machine.reset(0));
        state.ResumeTiming();
        value_of(machine.load(program));
    }
    const std::uint64_t bytes = program.file().size() + memory_size;
    state.counters["bytes"] = total(bytes);
    state.counters["per_byte"] = time_per(bytes);
}
}  // namespace

void add_adversarial()
{
    for (const NamedAdversary& adversary : adversaries()) {
        for (const Engine& engine : engines()) {
            auto* const added =
                add(engine.name + "/adversarial/" + std::string{adversary.name},
                    [=](benchmark::State& state) { attack(state, adversary, engine.config); });
            if (adversary.few_rounds)
                added->Iterations(few);
        }
    }
    add("loader/adversarial/overlapping_headers",
        [](benchmark::State& state) { load_overlapping(state, default_memory_size); });
    add("loader/adversarial/overlapping_headers_1GiB",
        [](benchmark::State& state) { load_overlapping(state, max_memory_size); });
}
}  // namespace mopvm::bench
