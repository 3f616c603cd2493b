// SPDX-License-Identifier: MIT
// One run of one guest.

#include "guest_run.hpp"

#include "interrupt.hpp"
#include "listing.hpp"
#include "problem.hpp"
#include "symbols.hpp"
#include "text.hpp"

#include <spdlog/spdlog.h>
#include <algorithm>
#include <chrono>
#include <utility>

#if defined(__x86_64__)
#include <x86intrin.h>
#endif

namespace mopvm::tool
{
namespace
{
/// Bytes of an ECALL.
constexpr std::uint64_t ecall_length = 4;

/// Stands before the handlers of a machine: notes which of its calls failed, and makes a call that
/// Ctrl-C broke off a pause.
class WatchedSyscalls final : public SyscallHandler
{
public:
    explicit WatchedSyscalls(std::shared_ptr<SyscallHandler> handler) noexcept
        : m_handler{std::move(handler)}
    {}

    /// True when the last call failed.
    [[nodiscard]] bool failed() const noexcept { return m_failed; }

    Result<void> initialize(Machine& machine) noexcept override
    {
        return m_handler->initialize(machine);
    }

    Result<SyscallAnswer> handle(Machine& machine) noexcept override
    {
        auto answer = m_handler->handle(machine);
        m_failed = !answer;
        if (m_failed && answer.error().code == ErrorCode::io && interrupted())
            return SyscallAnswer::pause();
        return answer;
    }

private:
    std::shared_ptr<SyscallHandler> m_handler;
    bool m_failed = false;
};

/// Measures the time since it was made.
class Stopwatch
{
public:
    [[nodiscard]] std::uint64_t nanoseconds() const noexcept
    {
        const auto elapsed = std::chrono::steady_clock::now() - m_start;
        return static_cast<std::uint64_t>(
            std::chrono::duration_cast<std::chrono::nanoseconds>(elapsed).count());
    }

private:
    std::chrono::steady_clock::time_point m_start = std::chrono::steady_clock::now();
};

[[nodiscard]] std::optional<std::uint64_t> time_stamp() noexcept
{
#if defined(__x86_64__)
    return __rdtsc();
#else
    return std::nullopt;
#endif
}

[[nodiscard]] RunResult load_failure(Error error)
{
    RunResult result;
    result.message = std::string{name(error.code)} + ": " + message(error);
    result.exit = {.reason = Exit::Reason::error, .error = std::move(error)};
    return result;
}

/// `pc 0x10078 <main+0x8>`
[[nodiscard]] std::string describe_place(const Symbols& symbols, std::uint64_t pc)
{
    const auto symbol = symbols.place(pc);
    return "pc " + hex(pc) + (symbol.empty() ? symbol : " <" + symbol + ">");
}

[[nodiscard]] std::string describe_end(const Exit& exit,
                                       Machine& machine,
                                       const Program& program,
                                       bool in_syscall)
{
    switch (exit.reason) {
    case Exit::Reason::exited:
        return "the guest exited with code " + std::to_string(exit.exit_code);
    case Exit::Reason::paused:
        return "Ctrl-C paused the run at " + describe_place(Symbols{program}, exit.pc);
    case Exit::Reason::yielded:
        return "the guest gave up control at " + describe_place(Symbols{program}, exit.pc);
    case Exit::Reason::error:
        break;
    }
    // An error of a system call is reported behind it.
    const auto pc = in_syscall ? exit.pc - ecall_length : exit.pc;
    const auto operation = describe_operation(machine, pc);
    return std::string{name(exit.error.code)} + " at " + describe_place(Symbols{program}, pc) +
           (operation.empty() ? operation : " in `" + operation + "`") + ": " + message(exit.error);
}

/// Makes the machine and gives it its system calls.
[[nodiscard]] Result<Machine> make_machine(const Options& options,
                                           const Config& config,
                                           const std::shared_ptr<GuestStreams>& streams,
                                           std::vector<std::shared_ptr<WatchedSyscalls>>& watched)
{
    auto machine = Machine::create(config);
    if (!machine)
        return machine;
    std::vector handlers{make_ckb_syscalls(streams)};
    if (options.syscalls == "posix")
        handlers.push_back(make_posix_syscalls(streams, options.host_time));
    for (auto& handler : handlers) {
        if (!handler)
            return std::unexpected{Error{.code = ErrorCode::out_of_memory}};
        watched.push_back(std::make_shared<WatchedSyscalls>(std::move(handler)));
        if (auto added = machine->add_syscalls(watched.back()); !added)
            return std::unexpected{std::move(added.error())};
    }
    return machine;
}
}  // namespace

RunResult run_program(const Options& options,
                      const Config& config,
                      const Program& program,
                      const std::shared_ptr<GuestStreams>& streams)
{
    std::vector<std::shared_ptr<WatchedSyscalls>> watched;
    auto machine = make_machine(options, config, streams, watched);
    if (!machine) {
        if (machine.error().code == ErrorCode::invalid_config ||
            machine.error().code == ErrorCode::backend_unavailable)
            throw Problem{message(machine.error())};
        return load_failure(std::move(machine.error()));
    }

    const Stopwatch load_watch;
    const auto loaded = machine->load(program, options.guest_arguments());
    const auto load_ns = load_watch.nanoseconds();
    if (!loaded) {
        auto result = load_failure(loaded.error());
        result.host.load_ns = load_ns;
        return result;
    }
    spdlog::info("loaded {}: {} bytes of segments and stack, entry {}, engine {}",
                 printable(options.elf), *loaded, hex(program.entry()), machine->config().backend);
    for (const auto& segment : program.segments())
        spdlog::debug("segment at {}: {} bytes in memory, {} from the file", hex(segment.address),
                      segment.size, segment.file_size);

    RunResult result;
    result.loaded = true;
    {
        const PauseTarget target{machine->pause_handle()};
        const Stopwatch run_watch;
        const auto start = time_stamp();
        result.exit = machine->run();
        if (const auto end = time_stamp(); start && end)
            result.host.tsc_cycles = *end - *start;
        result.host.run_ns = run_watch.nanoseconds();
    }
    result.host.load_ns = load_ns;
    std::ranges::copy(machine->registers(), result.registers.begin());
    result.stats = machine->stats();
    const bool in_syscall =
        result.exit.error.code == ErrorCode::invalid_ecall ||
        std::ranges::any_of(watched, [](const auto& handler) { return handler->failed(); });
    result.message = describe_end(result.exit, *machine, program, in_syscall);
    spdlog::info("{} after {} cycles", name(result.exit.reason), result.exit.cycles);
    return result;
}

RunResult run_guest(const Options& options,
                    const Config& config,
                    std::span<const std::byte> file,
                    const std::shared_ptr<GuestStreams>& streams)
{
    const Stopwatch parse_watch;
    auto program = Program::from_elf(file);
    const auto parse_ns = parse_watch.nanoseconds();
    auto result = program ? run_program(options, config, *program, streams)
                          : load_failure(std::move(program.error()));
    result.host.load_ns += parse_ns;
    return result;
}

bool is_host_failure(const Exit& exit) noexcept
{
    return exit.reason == Exit::Reason::error &&
           (exit.error.code == ErrorCode::io || exit.error.code == ErrorCode::out_of_memory ||
            exit.error.code == ErrorCode::invalid_config ||
            exit.error.code == ErrorCode::backend_unavailable);
}

int exit_status(const Exit& exit) noexcept
{
    switch (exit.reason) {
    case Exit::Reason::exited:
        return static_cast<std::uint8_t>(exit.exit_code);
    case Exit::Reason::paused:
    case Exit::Reason::yielded:
        return status_interrupted;
    case Exit::Reason::error:
        break;
    }
    return is_host_failure(exit) ? status_problem : status_vm_error;
}
}  // namespace mopvm::tool
