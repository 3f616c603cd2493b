// SPDX-License-Identifier: MIT
// Linux system calls for ordinary static programs; docs/syscalls.md says what each answers.

#include "syscalls/arguments.hpp"
#include "syscalls/host_clock.hpp"

#include <mopvm/syscalls.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <optional>
#include <span>
#include <utility>

namespace mopvm::syscalls
{
namespace
{
enum class Number : std::uint64_t
{
    close = 57,
    lseek = 62,
    read = 63,
    write = 64,
    writev = 66,
    fstat = 80,
    exit_group = 94,
    clock_time = 113,
    time_of_day = 169,
    brk = 214,
};

/// What a failed call returns: the negated error numbers of Linux.
constexpr std::uint64_t failure(std::int64_t number) noexcept
{
    return static_cast<std::uint64_t>(-number);
}
constexpr std::uint64_t bad_descriptor = failure(9);
constexpr std::uint64_t bad_address = failure(14);
constexpr std::uint64_t invalid_argument = failure(22);
constexpr std::uint64_t cannot_seek = failure(29);

constexpr std::uint64_t standard_input = 0;
constexpr std::uint64_t descriptor_count = 3;

/// Bytes that are read from the host at a time.
constexpr std::size_t read_chunk = 16384;

/// One entry of the array that writev takes, and the most entries it may have.
constexpr std::uint64_t io_vector_size = 16;
constexpr std::uint64_t max_io_vectors = 1024;

/// `struct stat` of riscv64 Linux: its size, and the only field that is not 0.
constexpr std::size_t stat_size = 128;
constexpr std::size_t stat_mode_offset = 16;
constexpr std::uint32_t character_device = 0020000;

[[nodiscard]] bool is_open(std::uint64_t descriptor) noexcept
{
    return descriptor < descriptor_count;
}

[[nodiscard]] bool is_output(std::uint64_t descriptor) noexcept
{
    return is_open(descriptor) && descriptor != standard_input;
}

/// True when the guest may store to all of [@p address, @p address + @p length).
[[nodiscard]] bool is_writable(const Memory& memory,
                               std::uint64_t address,
                               std::uint64_t length) noexcept
{
    if (length == 0)
        return true;
    if (!memory.view(address, length))
        return false;
    const auto last = (address + length - 1) / page_size;
    for (auto page = address / page_size; page <= last; ++page) {
        const auto flags = memory.flags(page);
        if (!flags || (*flags & page_flag::executable) != 0)
            return false;
    }
    return true;
}

/// Stores @p words at @p address: 0 when the guest may write there, else the failure.
template <std::size_t count>
[[nodiscard]] std::uint64_t store_words(Memory memory,
                                        std::uint64_t address,
                                        const std::array<std::uint64_t, count>& words) noexcept
{
    std::array<std::byte, count * sizeof(std::uint64_t)> bytes{};
    for (std::size_t i = 0; i != bytes.size(); ++i)
        bytes[i] = static_cast<std::byte>(words[i / 8] >> (i % 8 * 8));
    return memory.write(address, bytes) ? 0 : bad_address;
}

/// A call's result for a0, or the error that ends the run.
using Value = Result<std::uint64_t>;

class PosixSyscalls final : public SyscallHandler
{
public:
    PosixSyscalls(std::shared_ptr<GuestStreams> streams, bool host_time) noexcept
        : m_streams{std::move(streams)}, m_host_time{host_time}
    {}

    Result<void> initialize(Machine& machine) noexcept override
    {
        m_first_break = machine.program_end();
        m_break = m_first_break;
        return {};
    }

    Result<SyscallAnswer> handle(Machine& machine) noexcept override
    {
        const auto number = Number{machine.reg(number_register)};
        if (number == Number::exit_group)
            return SyscallAnswer::exit(static_cast<std::int8_t>(argument(machine, 0)));
        auto value = call(machine, number);
        if (!value)
            return SyscallAnswer::not_mine();
        if (!*value)
            return std::unexpected{std::move(value->error())};
        return done(machine, **value);
    }

private:
    /// @return nothing when there is no call of that number.
    std::optional<Value> call(Machine& machine, Number number) noexcept
    {
        switch (number) {
        case Number::close:
            return is_open(argument(machine, 0)) ? 0 : bad_descriptor;
        case Number::lseek:
            return is_open(argument(machine, 0)) ? cannot_seek : bad_descriptor;
        case Number::read:
            return read(machine);
        case Number::write:
            return write(machine);
        case Number::writev:
            return writev(machine);
        case Number::fstat:
            return fstat(machine);
        case Number::brk:
            return brk(machine);
        case Number::clock_time:
            return m_host_time ? std::optional{clock_time(machine)} : std::nullopt;
        case Number::time_of_day:
            return m_host_time ? std::optional{time_of_day(machine)} : std::nullopt;
        default:
            return std::nullopt;
        }
    }

    Value read(Machine& machine) noexcept
    {
        const auto address = argument(machine, 1);
        const auto length = argument(machine, 2);
        auto memory = machine.memory();
        if (argument(machine, 0) != standard_input)
            return bad_descriptor;
        // Before anything is taken from the input: a refused call loses none of it.
        if (!is_writable(memory, address, length))
            return bad_address;

        std::array<std::byte, read_chunk> chunk;
        std::uint64_t total = 0;
        while (total != length) {
            const auto wanted =
                static_cast<std::size_t>(std::min<std::uint64_t>(length - total, chunk.size()));
            auto got = m_streams->read(std::span{chunk}.first(wanted));
            if (!got)
                return std::unexpected{std::move(got.error())};
            const auto taken = std::min(*got, wanted);
            if (!memory.write(address + total, std::span{chunk}.first(taken)))
                return bad_address;
            total += taken;
            if (taken != wanted)
                break;
        }
        return total;
    }

    Value write(Machine& machine) noexcept
    {
        if (!is_output(argument(machine, 0)))
            return bad_descriptor;
        const auto bytes = machine.memory().view(argument(machine, 1), argument(machine, 2));
        if (!bytes)
            return bad_address;
        return write_out(machine, *bytes);
    }

    Value writev(Machine& machine) noexcept
    {
        const auto memory = machine.memory();
        const auto vectors = argument(machine, 1);
        const auto count = argument(machine, 2);
        if (!is_output(argument(machine, 0)))
            return bad_descriptor;
        if (count > max_io_vectors)
            return invalid_argument;
        if (!memory.view(vectors, count * io_vector_size))
            return bad_address;

        const auto vector = [&](std::uint64_t i) -> Result<std::span<const std::byte>> {
            const auto entry = vectors + i * io_vector_size;
            const auto base = memory.load<std::uint64_t>(entry).value_or(0);
            return memory.view(base, memory.load<std::uint64_t>(entry + 8).value_or(0));
        };
        // All are looked at before any is written: a refused call writes nothing.
        for (std::uint64_t i = 0; i != count; ++i) {
            if (!vector(i))
                return bad_address;
        }
        std::uint64_t total = 0;
        for (std::uint64_t i = 0; i != count; ++i) {
            const auto written = write_out(machine, *vector(i));
            if (!written)
                return written;
            total += *written;
        }
        return total;
    }

    /// Writes @p bytes to the descriptor in a0 and returns their number.
    Value write_out(const Machine& machine, std::span<const std::byte> bytes) noexcept
    {
        const auto descriptor = static_cast<int>(argument(machine, 0));
        if (!bytes.empty()) {
            if (auto written = m_streams->write(descriptor, bytes); !written)
                return std::unexpected{std::move(written.error())};
        }
        return bytes.size();
    }

    static std::uint64_t fstat(Machine& machine) noexcept
    {
        if (!is_open(argument(machine, 0)))
            return bad_descriptor;
        static_assert(stat_mode_offset % sizeof(std::uint64_t) == 0);
        std::array<std::uint64_t, stat_size / sizeof(std::uint64_t)> fields{};
        fields[stat_mode_offset / sizeof(std::uint64_t)] = character_device;
        return store_words(machine.memory(), argument(machine, 1), fields);
    }

    std::uint64_t brk(Machine& machine) noexcept
    {
        const auto wanted = argument(machine, 0);
        const auto end = machine.memory().size() / 4 * 3;
        if (wanted >= m_first_break && wanted <= end)
            m_break = wanted;
        return m_break;
    }

    static Value clock_time(Machine& machine) noexcept
    {
        const auto time = read_host_clock(argument(machine, 0));
        if (!time)
            return invalid_argument;
        return store_words<2>(machine.memory(), argument(machine, 1),
                              {time->seconds, time->nanoseconds});
    }

    static Value time_of_day(Machine& machine) noexcept
    {
        const auto value = argument(machine, 0);
        const auto zone = argument(machine, 1);
        const auto time = read_host_clock(time_of_day_clock);
        if (!time)
            return invalid_argument;
        std::uint64_t result = 0;
        if (value != 0)
            result =
                store_words<2>(machine.memory(), value, {time->seconds, time->nanoseconds / 1000});
        if (result == 0 && zone != 0)
            result = store_words<1>(machine.memory(), zone, {0});
        return result;
    }

    std::shared_ptr<GuestStreams> m_streams;
    bool m_host_time;
    std::uint64_t m_first_break = 0;
    std::uint64_t m_break = 0;
};
}  // namespace
}  // namespace mopvm::syscalls

namespace mopvm
{
std::shared_ptr<SyscallHandler> make_posix_syscalls(std::shared_ptr<GuestStreams> streams,
                                                    bool host_time) noexcept
try {
    if (!streams)
        return nullptr;
    return std::make_shared<syscalls::PosixSyscalls>(std::move(streams), host_time);
} catch (const std::bad_alloc&) {
    return nullptr;
}
}  // namespace mopvm
