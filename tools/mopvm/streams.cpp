// SPDX-License-Identifier: MIT
// Guest input and output.

#include "streams.hpp"

#include "interrupt.hpp"

#include <poll.h>
#include <unistd.h>
#include <algorithm>
#include <cerrno>
#include <new>
#include <system_error>

namespace mopvm::tool
{
namespace
{
/// Bytes that are written at a time: a pipe that can be written takes as many without waiting.
constexpr std::size_t write_chunk = 4096;

[[nodiscard]] Error stream_error(std::string_view what, int number) noexcept
try {
    return {.code = ErrorCode::io,
            .text = std::string{what} + ": " + std::generic_category().message(number)};
} catch (const std::bad_alloc&) {
    return {.code = ErrorCode::out_of_memory};
}
}  // namespace

// It moves the stream on. NOLINTNEXTLINE(readability-make-member-function-const)
Result<std::size_t> StreamInput::read(std::span<std::byte> to) noexcept
{
    std::size_t length = 0;
    while (m_fd >= 0 && length != to.size()) {
        if (!wait_for(m_fd, POLLIN))
            return std::unexpected{stream_error("the guest's input", EINTR)};
        const auto got = ::read(m_fd, to.data() + length, to.size() - length);
        if (got < 0 && (errno == EINTR || errno == EAGAIN))
            continue;
        if (got < 0)
            return std::unexpected{stream_error("the guest's input", errno)};
        if (got == 0)
            break;
        length += static_cast<std::size_t>(got);
    }
    return length;
}

StreamInput named_input(const std::string& file)
{
    return file.empty() || file == "-" ? StreamInput{STDIN_FILENO} : StreamInput{open_input(file)};
}

Result<std::size_t> HostStreams::read(std::span<std::byte> to) noexcept
{
    return m_input.read(to);
}

Result<void> HostStreams::write(int fd, std::span<const std::byte> from) noexcept
{
    const auto* const name = fd == STDOUT_FILENO ? "the guest's stdout" : "the guest's stderr";
    while (!from.empty()) {
        if (!wait_for(fd, POLLOUT))
            return std::unexpected{stream_error(name, EINTR)};
        const auto written = ::write(fd, from.data(), std::min(from.size(), write_chunk));
        if (written < 0 && (errno == EINTR || errno == EAGAIN))
            continue;
        if (written < 0)
            return std::unexpected{stream_error(name, errno)};
        from = from.subspan(static_cast<std::size_t>(written));
    }
    return {};
}

Result<std::size_t> CapturedStreams::read(std::span<std::byte> to) noexcept
{
    return m_input.read(to);
}

Result<void> CapturedStreams::write(int fd, std::span<const std::byte> from) noexcept
try {
    auto& output = m_outputs[index(fd)];
    const auto kept = std::min(from.size(), limit - output.size());
    output.append(reinterpret_cast<const char*>(from.data()), kept);
    m_written[index(fd)] += from.size();
    return {};
} catch (const std::bad_alloc&) {
    return std::unexpected{Error{.code = ErrorCode::out_of_memory}};
}
}  // namespace mopvm::tool
