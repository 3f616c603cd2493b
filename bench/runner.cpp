// SPDX-License-Identifier: MIT
// Running guests and checking what they give.

#include "runner.hpp"

#include <algorithm>
#include <new>
#include <utility>

namespace mopvm::bench
{
Result<std::size_t> Streams::read(std::span<std::byte> to) noexcept
{
    const std::size_t length = std::min(to.size(), m_input.size() - m_read);
    std::copy_n(std::as_bytes(std::span{m_input}).begin() + static_cast<std::ptrdiff_t>(m_read),
                length, to.begin());
    m_read += length;
    return length;
}

Result<void> Streams::write(int /*fd*/, std::span<const std::byte> from) noexcept
try {
    m_output.append(reinterpret_cast<const char*>(from.data()), from.size());
    return {};
} catch (const std::bad_alloc&) {
    return std::unexpected{Error{.code = ErrorCode::out_of_memory}};
}

void Streams::rewind() noexcept
{
    m_read = 0;
    m_output.clear();
}

Runner::Runner(Guest guest, const Config& config)
    : m_guest{std::move(guest)},
      m_arguments{m_guest.arguments.begin(), m_guest.arguments.end()},
      m_config{config}
{
    Config counting = config;
    counting.count_operations = true;
    create(counting);
    load();
    const Exit exit = run();
    const Stats& stats = m_machine.value().stats();
    m_counts = {
        .cycles = exit.cycles, .operations = stats.operations, .instructions = stats.instructions};
    check(exit);
    destroy();
}

void Runner::forget_code()
{
    m_guest.program = value_of(Program::from_elf(m_guest.program.file()));
}

void Runner::create()
{
    create(m_config);
}

void Runner::create(const Config& config)
{
    m_machine = value_of(Machine::create(config));
    value_of(m_machine.value().add_syscalls(m_syscalls));
}

void Runner::reset()
{
    value_of(m_machine.value().reset(m_config.max_cycles));
}

void Runner::load()
{
    m_streams->rewind();
    value_of(m_machine.value().load(m_guest.program, m_arguments));
}

void Runner::check(const Exit& exit) const
{
    if (exit.reason == Exit::Reason::error)
        throw std::runtime_error{message(exit.error)};
    if (exit.reason != Exit::Reason::exited || exit.exit_code != 0)
        throw std::runtime_error{"the guest did not exit with 0"};
    if (exit.cycles != m_counts.cycles)
        throw std::runtime_error{"the cycles differ from those of the first run"};
    if (m_guest.output && *m_guest.output != m_streams->output())
        throw std::runtime_error{"the guest printed " + m_streams->output()};
}
}  // namespace mopvm::bench
