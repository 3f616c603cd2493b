// SPDX-License-Identifier: MIT
/// @file
/// The benchmarks by stage, and how each is registered.
#pragma once

#include "guest.hpp"

#include <mopvm/config.hpp>

#include <benchmark/benchmark.h>

#include <functional>
#include <string>
#include <vector>

namespace mopvm::bench
{
/// Registers the benchmark @p name. What @p body throws becomes an error of the benchmark, and of
/// the process (`any_failed`).
benchmark::internal::Benchmark* add(const std::string& name,
                                    std::function<void(benchmark::State&)> body);

/// True when a benchmark has failed so far.
[[nodiscard]] bool any_failed() noexcept;

/// CPU time of an iteration divided by @p count, in seconds.
[[nodiscard]] benchmark::Counter time_per(std::uint64_t count);

/// The same value whatever the number of iterations.
[[nodiscard]] benchmark::Counter total(std::uint64_t value);

/// What the first part of a benchmark's name stands for.
struct Engine
{
    std::string name;  ///< The backend's name, with `+mop` behind it when fusion is on.
    Config config;
};

/// Every backend that can run here, each without and with fusion.
[[nodiscard]] std::vector<Engine> engines();

// One function for each source file. They register benchmarks.
void add_execute(const std::vector<Guest>& guests);
void add_decode(const std::vector<NamedProgram>& programs);
void add_fusion(const std::vector<NamedProgram>& programs);
void add_load();
void add_adversarial();
}  // namespace mopvm::bench
