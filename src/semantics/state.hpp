// SPDX-License-Identifier: MIT
/// @file
/// The state of one machine: one standard-layout struct that engines, emitted code included, work
/// on.
#pragma once

#include "isa/registers.hpp"
#include "memory/space.hpp"
#include "support/noise.hpp"

#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>

namespace mopvm::semantics
{
/// The reservation when there is none.
inline constexpr std::uint64_t no_reservation = std::numeric_limits<std::uint64_t>::max();

/// Everything that executing an operation reads or changes.
struct State
{
    std::uint64_t x[isa::register_count]{};  ///< x[0] is 0 always.
    /// Behind x[31]: engines may let results for x0 go here. Nobody reads it.
    std::uint64_t discarded = support::spare_word;
    std::uint64_t pc = 0;
    std::uint64_t cycles = 0;
    std::uint64_t max_cycles = 0;
    std::uint64_t reservation = no_reservation;  ///< Address that LR reserved.
    memory::Space memory{};
    memory::Fault fault{};  ///< Why the last operation faulted.

    /// Writes register @p rd; x0 stays 0.
    void set(std::size_t rd, std::uint64_t value) noexcept
    {
        x[rd] = value;
        x[isa::reg_zero] = 0;
    }
};
static_assert(std::is_standard_layout_v<State> && std::is_trivially_copyable_v<State>);

/// What executing one operation came to.
enum class Outcome : std::uint8_t
{
    next,    ///< Done; pc is the address of the next operation.
    fault,   ///< `State::fault` says why; nothing but dirty flags changed, pc stands at the
             ///< operation.
    ecall,   ///< A system call to answer; pc is the address after it.
    ebreak,  ///< A breakpoint; pc is the address after it.
};
}  // namespace mopvm::semantics
