// SPDX-License-Identifier: MIT
// The same input for every run of a guest.

#include "replay.hpp"

#include <algorithm>
#include <new>

namespace mopvm::tool
{
namespace
{
/// Bytes that are read at a time: a guest may ask for far more than there is.
constexpr std::size_t read_chunk = std::size_t{64} << 10;
}  // namespace

Result<std::size_t> RecordedInput::read(std::size_t offset, std::span<std::byte> to) noexcept
try {
    if (auto recorded = record(offset + to.size()); !recorded)
        return std::unexpected{std::move(recorded.error())};
    const auto available = std::span{m_bytes}.subspan(offset);
    const auto length = std::min(to.size(), available.size());
    std::ranges::copy(available.first(length), to.begin());
    return length;
} catch (const std::bad_alloc&) {
    return std::unexpected{Error{.code = ErrorCode::out_of_memory}};
}

Result<void> RecordedInput::record(std::size_t length)
{
    while (!m_ended && m_bytes.size() < length) {
        const auto kept = m_bytes.size();
        const auto wanted = std::min(length - kept, read_chunk);
        m_bytes.resize(kept + wanted);
        auto got = m_source.read(std::span{m_bytes}.subspan(kept));
        m_bytes.resize(kept + got.value_or(0));
        if (!got)
            return std::unexpected{std::move(got.error())};
        if (m_bytes.size() > limit)
            return std::unexpected{
                Error{.code = ErrorCode::io,
                      .text = "the guest's input is longer than 256 MiB, too long to be kept for "
                              "further runs"}};
        m_ended = *got != wanted;
    }
    return {};
}

Result<std::size_t> ReplayStreams::read(std::span<std::byte> to) noexcept
{
    auto got = m_input->read(m_offset, to);
    m_offset += got.value_or(0);
    return got;
}

Result<void> ReplayStreams::write(int fd, std::span<const std::byte> from) noexcept
{
    return m_captured.write(fd, from);
}
}  // namespace mopvm::tool
