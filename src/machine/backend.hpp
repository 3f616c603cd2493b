// SPDX-License-Identifier: MIT
/// @file
/// The seam between the machine and its engines.
#pragma once

#include "code/code_view.hpp"
#include "semantics/state.hpp"

#include <mopvm/stats.hpp>

#include <atomic>
#include <cstdint>
#include <span>
#include <string_view>

namespace mopvm
{
/// Why an engine came back to the machine.
enum class Stop : std::uint8_t
{
    fault,   ///< `State::fault` says why; pc is the address of the operation.
    ecall,   ///< A system call to answer; pc is the address after it.
    ebreak,  ///< A breakpoint; pc is the address after it.
    paused,  ///< The pause flag was seen; nothing of the operation at pc has happened.
};

/// What an engine works with beside the machine's state.
struct RunContext
{
    code::CodeView& code;  ///< In the engine's format.
    /// Looked at between operations, at the latest at the next backward or indirect transfer.
    const std::atomic<bool>& pause_requested;
    Stats* stats = nullptr;  ///< Where to count; null when nobody asked.
};

/// An engine. Whatever it does inside, what it leaves in the state when it comes back is what
/// `semantics::step`, repeated, would have left there.
struct Backend
{
    std::string_view name;
    /// Why the engine cannot run on this host; empty when it can.
    std::string_view (*why_not)() noexcept;
    /// How blocks are to be written down for it, for runs that count operations or do not.
    const code::BlockFormat& (*format)(bool counting) noexcept;
    /// Runs from `state.pc` on until something needs the machine.
    Stop (*run)(semantics::State& state, const RunContext& context) noexcept;
};

/// The engines that are built in, the best first. Defined by the backends, which nothing here
/// includes.
[[nodiscard]] std::span<const Backend* const> built_in_backends() noexcept;

/// The engine called @p name, or for `auto` the best that can run; else `backend_unavailable`,
/// which says why. @throws std::bad_alloc
[[nodiscard]] Result<const Backend*> find_backend(std::string_view name);
}  // namespace mopvm
