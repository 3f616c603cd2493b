// SPDX-License-Identifier: MIT
/// @file
/// The interface through which an embedder answers system calls, and the debugger's hook.
#pragma once

#include <mopvm/error.hpp>

#include <cstdint>

namespace mopvm
{
class Machine;

/// A handler's answer to one ECALL.
struct SyscallAnswer
{
    /// What the machine does next.
    enum class Kind : std::uint8_t
    {
        handled,   ///< Done; go on behind the ECALL (`cycles_exceeded` if the handler's charges do
                   ///< not fit the limit).
        not_mine,  ///< Ask the next handler.
        exit,      ///< End the run as system call 93 does, with `exit_code`.
        pause,     ///< Stop with `Exit::Reason::paused`, behind the ECALL.
        yield,     ///< Stop with `Exit::Reason::yielded`, behind the ECALL.
    };

    Kind kind = Kind::not_mine;
    std::int8_t exit_code = 0;  ///< Only with `exit`.

    [[nodiscard]] static constexpr SyscallAnswer handled() noexcept { return {Kind::handled, 0}; }
    [[nodiscard]] static constexpr SyscallAnswer not_mine() noexcept { return {Kind::not_mine, 0}; }
    [[nodiscard]] static constexpr SyscallAnswer pause() noexcept { return {Kind::pause, 0}; }
    [[nodiscard]] static constexpr SyscallAnswer yield() noexcept { return {Kind::yield, 0}; }
    [[nodiscard]] static constexpr SyscallAnswer exit(std::int8_t code) noexcept
    {
        return {Kind::exit, code};
    }
};

/// A set of system calls. Handlers are asked in the order in which they were added, until one does
/// not answer `not_mine`; an `Error` ends the run. Number 93 (exit) never gets here.
class SyscallHandler
{
public:
    virtual ~SyscallHandler() = default;

    /// Called once for each program load, before the stack is built. An error fails the load.
    [[nodiscard]] virtual Result<void> initialize(Machine& machine) noexcept = 0;

    /// Answers the call whose number is in a7 (x17), arguments in a0 to a5 (x10 to x15). The
    /// machine's pc is the address after the ECALL; its cycles include the ECALL's own cost. The
    /// handler may change any state of the machine, reset it and load another program.
    [[nodiscard]] virtual Result<SyscallAnswer> handle(Machine& machine) noexcept = 0;
};

/// Called at each EBREAK; without one EBREAK does nothing.
class Debugger
{
public:
    virtual ~Debugger() = default;

    /// Called for each program load, after all system call handlers. An error fails the load.
    [[nodiscard]] virtual Result<void> initialize(Machine& machine) noexcept = 0;

    /// The machine's pc is the address after the EBREAK. An error ends the run.
    [[nodiscard]] virtual Result<void> ebreak(Machine& machine) noexcept = 0;
};
}  // namespace mopvm
