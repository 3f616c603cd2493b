// SPDX-License-Identifier: MIT
/// @file
/// The guests that benchmarks run, and what their runs must give.
#pragma once

#include <mopvm/program.hpp>

#include <cstdint>
#include <filesystem>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace mopvm::bench
{
/// The value of @p result. @throws std::runtime_error with the error in plain words
template <typename T>
T value_of(Result<T> result)
{
    if (!result)
        throw std::runtime_error{message(result.error())};
    if constexpr (!std::is_void_v<T>)
        return *std::move(result);
}

/// One run of a guest.
struct Guest
{
    std::string name;                    ///< Third part of benchmark names.
    Program program;                     ///< Copies share what is decoded of it.
    std::vector<std::string> arguments;  ///< The program's name included.
    std::string input;                   ///< What it reads.
    std::optional<std::string> output;   ///< What it prints, if known; it always exits with 0.
};

/// A loop that is compiled for the host as well.
struct Kernel
{
    std::string_view name;
    std::uint64_t size;                     ///< What it is called with.
    std::uint64_t (*run)(std::uint64_t n);  ///< The host's form.
};

/// All kernels.
[[nodiscard]] const std::vector<Kernel>& kernels();

/// The kernels as guests, if there was a compiler for them, and those of examples/guests that
/// compute something. @throws std::runtime_error
[[nodiscard]] std::vector<Guest> guests();

/// The guests of bench/guests: every `*.elf` of @p folder, which runs without arguments and prints
/// nothing. @throws std::exception
[[nodiscard]] std::vector<Guest> guests_of(const std::filesystem::path& folder);

/// A guest that exits with 0 and does nothing else.
[[nodiscard]] Guest exiting_guest();

/// A program and what its file is called.
struct NamedProgram
{
    std::string name;
    Program program;
};

/// Every program of `guests`, and a larger one. @throws std::runtime_error
[[nodiscard]] std::vector<NamedProgram> programs();

/// Every program of `guests_of`. @throws std::exception
[[nodiscard]] std::vector<NamedProgram> programs_of(const std::filesystem::path& folder);
}  // namespace mopvm::bench
