// SPDX-License-Identifier: MIT
/// @file
/// Machines of the engine `asm` beside machines of the reference engine, on the same programs.
#pragma once

#include "support/guest.hpp"
#include "support/state_dump.hpp"

#include <mopvm/mopvm.hpp>

#include <gtest/gtest.h>

#include <cstdint>
#include <string>

namespace mopvm::test
{
inline constexpr const char* reference_engine = "interpreter";

/// Room for the data of `program`, and not much more.
inline constexpr std::uint64_t asm_memory_size = 2 * min_memory_size;

/// Everything on, counted, and a limit that no test reaches by doing what it should.
[[nodiscard]] inline Config asm_config(bool fusion = true)
{
    return {.isa_a = true,
            .fusion = fusion,
            .max_cycles = 1'000'000,
            .memory_size = asm_memory_size,
            .backend = "asm",
            .count_operations = true};
}

[[nodiscard]] inline Config on_reference(Config config)
{
    config.backend = reference_engine;
    return config;
}

[[nodiscard]] inline Program parsed(const ElfFile& file)
{
    return Program::from_elf(build(file)).value();
}

[[nodiscard]] inline Machine loaded(const Program& program, const Config& config)
{
    Machine machine = Machine::create(config).value();
    EXPECT_TRUE(machine.load(program));
    return machine;
}

/// True when @p machine runs to the same state as @p reference, both of which stand alike.
[[nodiscard]] inline testing::AssertionResult runs_like(Machine& machine, Machine& reference)
{
    const StateDump wanted = capture(reference, reference.run());
    const StateDump got = capture(machine, machine.run());
    if (wanted == got)
        return testing::AssertionSuccess();
    return testing::AssertionFailure() << difference(wanted, got);
}
}  // namespace mopvm::test
