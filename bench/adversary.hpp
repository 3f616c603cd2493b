// SPDX-License-Identifier: MIT
/// @file
/// Guests that make their host work as hard as they can for each of their cycles.
#pragma once

#include <mopvm/config.hpp>
#include <mopvm/error.hpp>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace mopvm::bench
{
/// A guest, and the run of it that is measured.
struct Adversary
{
    std::vector<std::byte> file;  ///< Runs with no arguments.
    std::uint64_t memory_size = default_memory_size;
    bool isa_a = false;
    std::uint64_t max_cycles = std::numeric_limits<std::uint64_t>::max();
    /// Cycles until the limit stops each run, after which the next goes on; else one run does all.
    std::optional<std::uint64_t> slice{};
    /// The run that is measured is one of a program that ran before, with one argument, and had a
    /// lot decoded.
    bool decoded_before = false;
    /// How the run ends; else it exits with 0.
    std::optional<ErrorCode> error{};
};

/// An adversary that is made when it is wanted, as its file may be large.
struct NamedAdversary
{
    std::string_view name;  ///< Third part of benchmark names.
    Adversary (*make)();
    /// What is measured is short beside what goes before, so a few rounds must do.
    bool few_rounds = false;
};

/// All of them.
[[nodiscard]] std::span<const NamedAdversary> adversaries();

/// A file of as many program headers as there can be, each of which names all of @p memory_size and
/// all bytes of the file.
[[nodiscard]] std::vector<std::byte> overlapping_headers(std::uint64_t memory_size);
}  // namespace mopvm::bench
