// SPDX-License-Identifier: MIT
/// @file
/// How a run ended.
#pragma once

#include <mopvm/error.hpp>

#include <cstdint>
#include <string_view>

namespace mopvm
{
/// The end of one `Machine::run` or `Machine::step`. Whatever a guest does ends in one of these.
struct Exit
{
    /// Why the machine stopped.
    enum class Reason : std::uint8_t
    {
        exited,   ///< The guest called exit; `exit_code` is its code.
        error,    ///< `error` says what happened.
        paused,   ///< A `PauseHandle` or a handler asked for it; `run` goes on where it stopped.
        yielded,  ///< A handler gave control to the embedder; `run` goes on behind the call.
    };

    Reason reason = Reason::exited;
    std::int8_t exit_code = 0;  ///< Only with `exited`.
    Error error{};              ///< Only with `error`; look at `reason` first.

    /// Address of the operation that faulted or did not fit the limit; otherwise of the next one.
    std::uint64_t pc = 0;
    /// Cycles charged so far, the faulting operation's included.
    std::uint64_t cycles = 0;

    friend bool operator==(const Exit&, const Exit&) = default;
};

/// The name of @p reason: `exited`, `error`, `paused` or `yielded`.
[[nodiscard]] std::string_view name(Exit::Reason reason) noexcept;
}  // namespace mopvm
