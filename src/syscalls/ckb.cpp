// SPDX-License-Identifier: MIT
// The chain's calls that need no transaction: debug print, VM version, current cycles.

#include "syscalls/arguments.hpp"

#include <mopvm/syscalls.hpp>

#include <utf8.h>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <new>
#include <span>
#include <string>
#include <utility>

namespace mopvm::syscalls
{
namespace
{
constexpr std::uint64_t vm_version = 2041;
constexpr std::uint64_t current_cycles = 2042;
constexpr std::uint64_t debug_print = 2177;

constexpr int standard_error = 2;

/// The error of a string that is not text.
[[nodiscard]] Error not_utf8() noexcept
try {
    return {.code = ErrorCode::external,
            .text = "debug print was given a string that is not valid UTF-8"};
} catch (const std::bad_alloc&) {
    return {.code = ErrorCode::out_of_memory};
}

/// The bytes of the NUL-terminated string at @p address, in place and without the NUL.
[[nodiscard]] Result<std::span<const std::byte>> find_string(Machine& machine,
                                                             std::uint64_t address) noexcept
{
    const auto memory = machine.memory();
    // A string without end fails as loading its bytes one by one does: at the first byte outside.
    if (address >= memory.size())
        return std::unexpected{Error{.code = ErrorCode::mem_out_of_bound, .address = address}};
    const auto rest = *memory.view(address, memory.size() - address);
    const auto* const end = static_cast<const std::byte*>(std::memchr(rest.data(), 0, rest.size()));
    if (end == nullptr)
        return std::unexpected{
            Error{.code = ErrorCode::mem_out_of_bound, .address = memory.size()}};
    return std::span{rest.data(), end};
}

class CkbSyscalls final : public SyscallHandler
{
public:
    explicit CkbSyscalls(std::shared_ptr<GuestStreams> streams) noexcept
        : m_streams{std::move(streams)}
    {}

    Result<void> initialize(Machine& /*machine*/) noexcept override { return {}; }

    Result<SyscallAnswer> handle(Machine& machine) noexcept override
    {
        const auto number = machine.reg(number_register);
        if (number == debug_print)
            return print(machine);
        const auto version = machine.config().version;
        if (version == Version::v0)
            return SyscallAnswer::not_mine();
        if (number == vm_version)
            return done(machine, static_cast<std::uint64_t>(version));
        if (number == current_cycles)
            return done(machine, machine.cycles());
        return SyscallAnswer::not_mine();
    }

private:
    Result<SyscallAnswer> print(Machine& machine) noexcept
    {
        const auto string = find_string(machine, argument(machine, 0));
        if (!string)
            return std::unexpected{string.error()};
        const auto* const text = reinterpret_cast<const char*>(string->data());
        if (!utf8::is_valid(text, text + string->size()))
            return std::unexpected{not_utf8()};

        constexpr std::byte newline{'\n'};
        auto written = m_streams->write(standard_error, *string);
        if (written)
            written = m_streams->write(standard_error, {&newline, 1});
        if (!written)
            return std::unexpected{std::move(written.error())};
        return SyscallAnswer::handled();
    }

    std::shared_ptr<GuestStreams> m_streams;
};
}  // namespace
}  // namespace mopvm::syscalls

namespace mopvm
{
std::shared_ptr<SyscallHandler> make_ckb_syscalls(std::shared_ptr<GuestStreams> streams) noexcept
try {
    if (!streams)
        return nullptr;
    return std::make_shared<syscalls::CkbSyscalls>(std::move(streams));
} catch (const std::bad_alloc&) {
    return nullptr;
}
}  // namespace mopvm
