// SPDX-License-Identifier: MIT
/// @file
/// What a machine is made of: version, instruction set, memory, limits and backend.
#pragma once

#include <mopvm/cost_model.hpp>

#include <cstdint>
#include <limits>
#include <string>

namespace mopvm
{
/// The versions of the machine; they differ in small consensus-relevant details (`docs/isa.md`).
enum class Version : std::uint8_t
{
    v0 = 0,
    v1 = 1,
    v2 = 2,
};

/// Smallest, default and largest guest memory, and what its size must be a multiple of, in bytes.
inline constexpr std::uint64_t min_memory_size = std::uint64_t{256} << 10;
inline constexpr std::uint64_t default_memory_size = std::uint64_t{4} << 20;
inline constexpr std::uint64_t max_memory_size = std::uint64_t{1} << 30;
inline constexpr std::uint64_t memory_size_unit = std::uint64_t{256} << 10;

/// The configuration of a `Machine`. Every field has the value that chains use today.
struct Config
{
    Version version = Version::v2;

    /// Zba, Zbb, Zbc and Zbs beside RV64IMC.
    bool isa_b = true;
    /// LR, SC and AMO beside RV64IMC.
    bool isa_a = false;
    /// Macro-op fusion. Refused with `Version::v0`.
    bool fusion = true;

    /// Price of each operation.
    CostModel cost_model = CostModel::standard();
    /// A run stops before the operation that would take the cycle counter above this.
    std::uint64_t max_cycles = std::numeric_limits<std::uint64_t>::max();

    /// Guest memory in bytes: a multiple of `memory_size_unit` within the bounds above.
    std::uint64_t memory_size = default_memory_size;

    /// Name of the engine, as `backends()` lists them, or `auto` for the best that can run here.
    /// The choice never changes a result. A named engine that cannot run is an error.
    std::string backend = "auto";

    /// Count operations for `Machine::stats`; costs some speed.
    bool count_operations = false;
};
}  // namespace mopvm
