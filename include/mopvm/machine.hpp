// SPDX-License-Identifier: MIT
/// @file
/// The machine: load a program, run it, look at it.
#pragma once

#include <mopvm/config.hpp>
#include <mopvm/exit.hpp>
#include <mopvm/memory.hpp>
#include <mopvm/pause.hpp>
#include <mopvm/program.hpp>
#include <mopvm/stats.hpp>
#include <mopvm/syscall.hpp>

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>

namespace mopvm
{
/// Names of the engines that are built in and can run on this host, the best first.
[[nodiscard]] std::span<const std::string_view> backends() noexcept;

/// One RISC-V machine. Used by one thread at a time; any number of machines run side by side.
/// Nothing that a guest does throws, aborts or prints.
class Machine
{
public:
    /// Makes a machine with zeroed memory and registers. Fails with `invalid_version`,
    /// `invalid_config`, `backend_unavailable` or `out_of_memory`.
    [[nodiscard]] static Result<Machine> create(const Config& config) noexcept;

    Machine(Machine&&) noexcept;
    Machine& operator=(Machine&&) noexcept;
    Machine(const Machine&) = delete;
    Machine& operator=(const Machine&) = delete;
    ~Machine();

    /// Appends a handler; it is shared with the caller. Null is an `invalid_config` error.
    [[nodiscard]] Result<void> add_syscalls(std::shared_ptr<SyscallHandler> handler) noexcept;
    /// Installs the debugger in place of the last one; null removes it.
    void set_debugger(std::shared_ptr<Debugger> debugger) noexcept;

    /// Loads @p program into fresh (or reset) memory, initialises handlers and debugger, builds the
    /// stack from @p arguments (copied; the first is the program's name by convention) and sets pc.
    /// Charges nothing. After an error registers and pc are 0.
    /// @return the bytes that an embedder may charge for: file bytes of all segments plus stack.
    [[nodiscard]] Result<std::uint64_t> load(
        const Program& program,
        std::span<const std::string_view> arguments = {}) noexcept;

    /// Runs until the guest exits, faults, reaches the cycle limit, or is paused. May be called
    /// again: it goes on at pc. After `cycles_exceeded` and a raised limit the run goes on exactly
    /// as if it had never been stopped.
    [[nodiscard]] Exit run() noexcept;

    /// Executes one (possibly fused) operation and what it asks of handlers.
    /// @return nothing when the machine can go on, else how it ended.
    [[nodiscard]] std::optional<Exit> step() noexcept;

    /// Value of register @p index, 0 to 31; any other index reads as 0.
    [[nodiscard]] std::uint64_t reg(unsigned index) const noexcept;
    /// Sets register @p index; x0 and indexes above 31 are left alone.
    void set_reg(unsigned index, std::uint64_t value) noexcept;
    /// All registers, x0 first; valid as long as the machine is not moved.
    [[nodiscard]] std::span<const std::uint64_t, 32> registers() const noexcept;

    [[nodiscard]] std::uint64_t pc() const noexcept;
    void set_pc(std::uint64_t pc) noexcept;

    /// Cycles charged since creation or reset.
    [[nodiscard]] std::uint64_t cycles() const noexcept;
    void set_cycles(std::uint64_t cycles) noexcept;
    [[nodiscard]] std::uint64_t max_cycles() const noexcept;
    void set_max_cycles(std::uint64_t max_cycles) noexcept;
    /// Charges @p cycles; on `cycles_exceeded` or `cycles_overflow` nothing is charged.
    [[nodiscard]] Result<void> add_cycles(std::uint64_t cycles) noexcept;
    /// Charges @p cycles without looking at the limit; on `cycles_overflow` nothing is charged.
    [[nodiscard]] Result<void> add_cycles_no_check(std::uint64_t cycles) noexcept;

    /// The machine's memory; the view is valid as long as the machine.
    [[nodiscard]] Memory memory() noexcept;

    /// A handle that pauses this machine from other threads and signal handlers.
    [[nodiscard]] PauseHandle pause_handle() const noexcept;

    /// Counts so far; all zero unless `Config::count_operations`.
    [[nodiscard]] const Stats& stats() const noexcept;

    /// The configuration, with `backend` naming the engine that was chosen.
    [[nodiscard]] const Config& config() const noexcept;

    /// The end of the highest segment that the last load placed, rounded up to a page; 0 before it.
    [[nodiscard]] std::uint64_t program_end() const noexcept;

    /// Back to a fresh machine with limit @p max_cycles: registers, pc, cycles, counts and memory
    /// are zero, handlers stay. May be called from a handler.
    [[nodiscard]] Result<void> reset(std::uint64_t max_cycles) noexcept;

private:
    struct Impl;
    explicit Machine(std::unique_ptr<Impl> impl) noexcept;
    std::unique_ptr<Impl> m_impl;
};
}  // namespace mopvm
