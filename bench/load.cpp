// SPDX-License-Identifier: MIT
// Making machines and loading programs, next to copying the program's bytes.

#include "guest.hpp"
#include "memory/mapping.hpp"
#include "registration.hpp"
#include "support/elf_builder.hpp"

#include <mopvm/machine.hpp>

#include <sys/mman.h>

#include <array>
#include <chrono>
#include <cstring>
#include <optional>
#include <utility>

namespace mopvm::bench
{
namespace
{
constexpr std::size_t code_bytes = std::size_t{80} << 10;
constexpr std::size_t data_bytes = std::size_t{20} << 10;
constexpr std::int64_t program_bytes = code_bytes + data_bytes;

/// Machines of so many different sizes take turns that none finds the memory of an earlier one.
constexpr std::uint64_t different_sizes = 32;
static_assert(different_sizes * default_memory_size > memory::Mapping::max_kept_bytes);

constexpr std::array<std::string_view, 1> arguments{"program"};

/// 100 KiB of code and data, not meant to run.
Program program()
{
    return value_of(Program::from_elf(
        test::build({.segments = {{.vaddr = 0x10000, .bytes = test::pattern(code_bytes)},
                                  {.vaddr = 0x40000,
                                   .flags = test::elf_flag::data,
                                   .bytes = test::pattern(data_bytes)}}})));
}

/// Runs @p body and makes its duration that of the iteration.
template <typename Body>
void time_alone(benchmark::State& state, const Body& body)
{
    using Clock = std::chrono::steady_clock;
    const Clock::time_point start = Clock::now();
    body();
    state.SetIterationTime(std::chrono::duration<double>(Clock::now() - start).count());
}

void create(benchmark::State& state, const Config& config)
{
    std::optional<Machine> machine;
    for ([[maybe_unused]] auto iteration : state) {
        machine.reset();
        time_alone(state, [&] { machine = value_of(Machine::create(config)); });
    }
}

/// Into a machine that has been reset.
void load(benchmark::State& state, const Config& config)
{
    const Program loaded = program();
    Machine machine = value_of(Machine::create(config));
    for ([[maybe_unused]] auto iteration : state) {
        value_of(machine.reset(config.max_cycles));
        time_alone(state, [&] { value_of(machine.load(loaded, arguments)); });
    }
    state.SetBytesProcessed(state.iterations() * program_bytes);
}

void create_load_destroy(benchmark::State& state, const Config& config)
{
    const Program loaded = program();
    for ([[maybe_unused]] auto iteration : state) {
        Machine machine = value_of(Machine::create(config));
        value_of(machine.load(loaded, arguments));
    }
    state.SetBytesProcessed(state.iterations() * program_bytes);
}

/// The same with memory that the host must supply anew.
void create_load_destroy_new_memory(benchmark::State& state, Config config)
{
    const Program loaded = program();
    std::uint64_t round = 0;
    for ([[maybe_unused]] auto iteration : state) {
        config.memory_size = default_memory_size + round++ % different_sizes * memory_size_unit;
        Machine machine = value_of(Machine::create(config));
        value_of(machine.load(loaded, arguments));
    }
    state.SetBytesProcessed(state.iterations() * program_bytes);
}

void copy(benchmark::State& state)
{
    const std::vector<std::byte> from = test::pattern(program_bytes);
    std::vector<std::byte> to(from.size());
    for ([[maybe_unused]] auto iteration : state) {
        std::memcpy(to.data(), from.data(), from.size());
        benchmark::DoNotOptimize(to.data());
        benchmark::ClobberMemory();
    }
    if (to != from)
        throw std::runtime_error{"the copy differs"};
    state.SetBytesProcessed(state.iterations() * program_bytes);
}
/// The same with memory that the host must supply anew.
void copy_to_new_memory(benchmark::State& state)
{
    const std::vector<std::byte> from = test::pattern(program_bytes);
    for ([[maybe_unused]] auto iteration : state) {
        void* const to = ::mmap(nullptr, from.size(), PROT_READ | PROT_WRITE,
                                MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (to == MAP_FAILED)
            throw std::runtime_error{"the host has no memory left"};
        std::memcpy(to, from.data(), from.size());
        benchmark::DoNotOptimize(to);
        benchmark::ClobberMemory();
        ::munmap(to, from.size());
    }
    state.SetBytesProcessed(state.iterations() * program_bytes);
}
}  // namespace

void add_load()
{
    add("memcpy/load/100KiB", copy);
    add("memcpy/load/100KiB_new_memory", copy_to_new_memory);
    for (const Engine& engine : engines()) {
        const Config& config = engine.config;
        add(engine.name + "/create/4MiB", [=](auto& state) {
            create(state, config);
        })->UseManualTime();
        add(engine.name + "/load/100KiB", [=](auto& state) {
            load(state, config);
        })->UseManualTime();
        add(engine.name + "/create+load+destroy/100KiB",
            [=](auto& state) { create_load_destroy(state, config); });
        add(engine.name + "/create+load+destroy/100KiB_new_memory",
            [=](auto& state) { create_load_destroy_new_memory(state, config); });
    }
}
}  // namespace mopvm::bench
