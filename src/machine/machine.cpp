// SPDX-License-Identifier: MIT
// The machine: configuration, loading, the run loop and system calls.

#include <mopvm/machine.hpp>

#include "code/fetch.hpp"
#include "elf/loader.hpp"
#include "machine/backend.hpp"
#include "machine/program.hpp"
#include "machine/stack.hpp"
#include "memory/mapping.hpp"
#include "semantics/step.hpp"

#include <algorithm>
#include <atomic>
#include <new>
#include <string>
#include <utility>
#include <vector>

namespace mopvm
{
namespace
{
constexpr std::uint64_t syscall_exit = 93;

Error invalid_config(std::string text) noexcept
{
    return {.code = ErrorCode::invalid_config, .text = std::move(text)};
}

Result<void> check(const Config& config)
{
    if (config.version > Version::v2)
        return std::unexpected{invalid_config("versions are 0, 1 and 2")};
    if (config.fusion && config.version == Version::v0)
        return std::unexpected{Error{.code = ErrorCode::invalid_version}};
    return {};
}
}  // namespace

struct Machine::Impl
{
    Impl(const Config& wanted, const Backend& engine, memory::Mapping memory)
        : config{wanted},
          backend{engine},
          mapping{std::move(memory)},
          code{code::code_config(wanted, engine.format(wanted.count_operations))}
    {
        config.backend = engine.name;
        state.memory = mapping.space();
        state.max_cycles = config.max_cycles;
    }

    [[nodiscard]] Result<std::uint64_t> load(Machine& machine,
                                             const Program& program,
                                             std::span<const std::string_view> arguments) noexcept;
    [[nodiscard]] Result<void> load_code(const Program& program);
    [[nodiscard]] std::optional<Exit> settle(Machine& machine, Stop stop) noexcept;
    [[nodiscard]] std::optional<Exit> system_call(Machine& machine) noexcept;
    [[nodiscard]] Exit fault() const noexcept;
    [[nodiscard]] Exit stopped(Exit::Reason reason) const noexcept;
    [[nodiscard]] Exit failed(Error error) const noexcept;
    [[nodiscard]] Exit exited(std::int8_t exit_code) const noexcept;

    Config config;
    const Backend& backend;
    memory::Mapping mapping;
    semantics::State state;
    code::CodeView code;
    std::vector<std::shared_ptr<SyscallHandler>> handlers;
    std::shared_ptr<Debugger> debugger;
    std::shared_ptr<std::atomic<bool>> pause_requested = std::make_shared<std::atomic<bool>>(false);
    Stats stats;
    std::uint64_t program_end = 0;
};

Machine::Machine(std::unique_ptr<Impl> impl) noexcept : m_impl{std::move(impl)} {}
Machine::Machine(Machine&&) noexcept = default;
Machine& Machine::operator=(Machine&&) noexcept = default;
Machine::~Machine() = default;

Result<Machine> Machine::create(const Config& config) noexcept
try {
    if (auto checked = check(config); !checked)
        return std::unexpected{std::move(checked.error())};
    const auto backend = find_backend(config.backend);
    if (!backend)
        return std::unexpected{backend.error()};
    auto memory = memory::Mapping::create(config.memory_size, config.version);
    if (!memory)
        return std::unexpected{std::move(memory.error())};
    return Machine{std::make_unique<Impl>(config, **backend, std::move(*memory))};
} catch (const std::bad_alloc&) {
    return std::unexpected{Error{.code = ErrorCode::out_of_memory}};
}

Result<void> Machine::add_syscalls(std::shared_ptr<SyscallHandler> handler) noexcept
try {
    if (handler == nullptr)
        return std::unexpected{invalid_config("a null system call handler")};
    m_impl->handlers.push_back(std::move(handler));
    return {};
} catch (const std::bad_alloc&) {
    return std::unexpected{Error{.code = ErrorCode::out_of_memory}};
}

void Machine::set_debugger(std::shared_ptr<Debugger> debugger) noexcept
{
    m_impl->debugger = std::move(debugger);
}

Result<std::uint64_t> Machine::load(const Program& program,
                                    std::span<const std::string_view> arguments) noexcept
{
    auto loaded = m_impl->load(*this, program, arguments);
    if (!loaded) {
        std::ranges::fill(m_impl->state.x, 0);
        m_impl->state.pc = 0;
    }
    return loaded;
}

Result<std::uint64_t> Machine::Impl::load(Machine& machine,
                                          const Program& program,
                                          std::span<const std::string_view> arguments) noexcept
try {
    if (auto loaded = load_code(program); !loaded)
        return std::unexpected{std::move(loaded.error())};
    state.pc = program.entry();
    // By index and with a copy, as the handler may add further ones.
    // NOLINTNEXTLINE(modernize-loop-convert)
    for (std::size_t i = 0; i < handlers.size(); ++i) {
        const auto handler = handlers[i];
        if (auto ready = handler->initialize(machine); !ready)
            return std::unexpected{std::move(ready.error())};
    }
    if (const auto hook = debugger; hook != nullptr) {
        if (auto ready = hook->initialize(machine); !ready)
            return std::unexpected{std::move(ready.error())};
    }
    const auto stack = machine::build_stack(machine.memory(), config.version, arguments);
    if (!stack)
        return std::unexpected{stack.error()};
    state.set(isa::reg_sp, stack->sp);
    return program.loaded_bytes() + stack->bytes;
} catch (const std::bad_alloc&) {
    return std::unexpected{Error{.code = ErrorCode::out_of_memory}};
}

/// Loads the segments and finds the decoded form of them that all machines share. It covers what
/// the program alone makes executable, so a machine that has executable pages already shares none.
Result<void> Machine::Impl::load_code(const Program& program)
{
    memory::Space& space = state.memory;
    const bool had_code = space.code_epoch != 0;
    auto loaded = elf::load(program.m_impl->headers, program.m_impl->file, space, config.version);
    if (!loaded)
        return loaded;
    if (!had_code && space.code_epoch != 0)
        code.share(program.m_impl->code_image(code.config(), space), space);

    program_end = 0;
    for (const Segment& segment : program.segments())
        program_end = std::max(program_end, segment.address + segment.size);
    return {};
}

Exit Machine::run() noexcept
{
    Impl& impl = *m_impl;
    const RunContext context{.code = impl.code,
                             .pause_requested = *impl.pause_requested,
                             .stats = impl.config.count_operations ? &impl.stats : nullptr};
    for (;;) {
        if (auto refreshed = impl.code.refresh(impl.state.memory); !refreshed)
            return impl.failed(std::move(refreshed.error()));
        if (auto exit = impl.settle(*this, impl.backend.run(impl.state, context)))
            return *std::move(exit);
    }
}

std::optional<Exit> Machine::step() noexcept
{
    Impl& impl = *m_impl;
    if (impl.pause_requested->load(std::memory_order_relaxed))
        return impl.settle(*this, Stop::paused);
    if (auto refreshed = impl.code.refresh(impl.state.memory); !refreshed)
        return impl.failed(std::move(refreshed.error()));
    switch (semantics::step(impl.state, impl.code,
                            impl.config.count_operations ? &impl.stats : nullptr))
    {
    case semantics::Outcome::next:
        break;
    case semantics::Outcome::fault:
        return impl.settle(*this, Stop::fault);
    case semantics::Outcome::ecall:
        return impl.settle(*this, Stop::ecall);
    case semantics::Outcome::ebreak:
        return impl.settle(*this, Stop::ebreak);
    }
    return std::nullopt;
}

/// Does what an engine came back for. @return how the run ends, or nothing when it goes on.
std::optional<Exit> Machine::Impl::settle(Machine& machine, Stop stop) noexcept
{
    switch (stop) {
    case Stop::fault:
        return fault();
    case Stop::ecall:
        return system_call(machine);
    case Stop::ebreak:
        // A copy: the hook may install another debugger.
        if (const auto hook = debugger; hook != nullptr) {
            if (auto handled = hook->ebreak(machine); !handled)
                return failed(std::move(handled.error()));
        }
        return std::nullopt;
    case Stop::paused:
        pause_requested->store(false, std::memory_order_seq_cst);
        return stopped(Exit::Reason::paused);
    }
    std::unreachable();
}

std::optional<Exit> Machine::Impl::system_call(Machine& machine) noexcept
{
    const std::uint64_t number = state.x[isa::reg_a7];
    if (number == syscall_exit)
        return exited(static_cast<std::int8_t>(state.x[isa::reg_a0]));
    // By index and with a copy, as the handler may add further ones.
    // NOLINTNEXTLINE(modernize-loop-convert)
    for (std::size_t i = 0; i < handlers.size(); ++i) {
        const auto handler = handlers[i];
        auto answer = handler->handle(machine);
        if (!answer)
            return failed(std::move(answer.error()));
        switch (answer->kind) {
        case SyscallAnswer::Kind::handled:
            if (state.cycles > state.max_cycles)
                return failed({.code = ErrorCode::cycles_exceeded});
            return std::nullopt;
        case SyscallAnswer::Kind::not_mine:
            break;
        case SyscallAnswer::Kind::exit:
            return exited(answer->exit_code);
        case SyscallAnswer::Kind::pause:
            return stopped(Exit::Reason::paused);
        case SyscallAnswer::Kind::yield:
            return stopped(Exit::Reason::yielded);
        }
    }
    return failed({.code = ErrorCode::invalid_ecall, .address = number});
}

Exit Machine::Impl::fault() const noexcept
{
    Error error = memory::to_error(state.fault);
    if (error.code == ErrorCode::invalid_instruction) {
        memory::Fault unreadable;
        [[maybe_unused]] const bool read =
            code::fetch(state.memory, error.address, error.bits, unreadable);
    }
    return failed(std::move(error));
}

Exit Machine::Impl::stopped(Exit::Reason reason) const noexcept
{
    return {.reason = reason, .pc = state.pc, .cycles = state.cycles};
}

Exit Machine::Impl::failed(Error error) const noexcept
{
    Exit exit = stopped(Exit::Reason::error);
    exit.error = std::move(error);
    return exit;
}

Exit Machine::Impl::exited(std::int8_t exit_code) const noexcept
{
    Exit exit = stopped(Exit::Reason::exited);
    exit.exit_code = exit_code;
    return exit;
}

std::uint64_t Machine::reg(unsigned index) const noexcept
{
    return index < isa::register_count ? m_impl->state.x[index] : 0;
}

void Machine::set_reg(unsigned index, std::uint64_t value) noexcept
{
    if (index < isa::register_count)
        m_impl->state.set(index, value);
}

std::span<const std::uint64_t, 32> Machine::registers() const noexcept
{
    return m_impl->state.x;
}

std::uint64_t Machine::pc() const noexcept
{
    return m_impl->state.pc;
}

void Machine::set_pc(std::uint64_t pc) noexcept
{
    m_impl->state.pc = pc;
}

std::uint64_t Machine::cycles() const noexcept
{
    return m_impl->state.cycles;
}

void Machine::set_cycles(std::uint64_t cycles) noexcept
{
    m_impl->state.cycles = cycles;
}

std::uint64_t Machine::max_cycles() const noexcept
{
    return m_impl->state.max_cycles;
}

void Machine::set_max_cycles(std::uint64_t max_cycles) noexcept
{
    m_impl->state.max_cycles = max_cycles;
}

Result<void> Machine::add_cycles(std::uint64_t cycles) noexcept
{
    if (!semantics::charge(m_impl->state, cycles))
        return std::unexpected{memory::to_error(m_impl->state.fault)};
    return {};
}

Result<void> Machine::add_cycles_no_check(std::uint64_t cycles) noexcept
{
    const std::uint64_t sum = m_impl->state.cycles + cycles;
    if (sum < cycles)
        return std::unexpected{Error{.code = ErrorCode::cycles_overflow}};
    m_impl->state.cycles = sum;
    return {};
}

Memory Machine::memory() noexcept
{
    return Memory{m_impl->state.memory};
}

PauseHandle Machine::pause_handle() const noexcept
{
    return PauseHandle{m_impl->pause_requested};
}

const Stats& Machine::stats() const noexcept
{
    return m_impl->stats;
}

const Config& Machine::config() const noexcept
{
    return m_impl->config;
}

std::uint64_t Machine::program_end() const noexcept
{
    return m_impl->program_end;
}

Result<void> Machine::reset(std::uint64_t max_cycles) noexcept
{
    Impl& impl = *m_impl;
    if (auto cleared = impl.mapping.clear(); !cleared)
        return cleared;
    impl.code.reset();
    impl.state = {};
    impl.state.memory = impl.mapping.space();
    impl.state.max_cycles = max_cycles;
    impl.stats = {};
    impl.program_end = 0;
    return {};
}
}  // namespace mopvm
