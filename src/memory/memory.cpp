// SPDX-License-Identifier: MIT
/// @file
/// The bulk rules of guest memory: one implementation for loader, stack and handlers.

#include <mopvm/memory.hpp>

#include "memory/mapping.hpp"
#include "memory/space.hpp"

#include <algorithm>
#include <cstring>

namespace mopvm
{
namespace
{
using memory::Fault;
using memory::page_shift;
using memory::Space;

std::unexpected<Error> refuse(ErrorCode code,
                              std::uint64_t address,
                              BoundKind kind = BoundKind::memory) noexcept
{
    return std::unexpected{Error{.code = code, .kind = kind, .address = address}};
}

std::unexpected<Error> refuse(const Fault& fault) noexcept
{
    return std::unexpected{memory::to_error(fault)};
}

/// Bounds of the whole range first, then page by page: the pages before one that refuses stay
/// marked dirty. @p length is not 0.
Result<void> prepare_write(Space& space, std::uint64_t address, std::uint64_t length) noexcept
{
    Fault fault;
    if (!Space::in_bounds(address, length, space.size, space.size, fault))
        return refuse(fault);
    const std::uint64_t last = (address + (length - 1)) >> page_shift;
    for (std::uint64_t page = address >> page_shift; page <= last; ++page) {
        if (!space.prepare_page(page, address, fault))
            return refuse(fault);
    }
    return {};
}

/// Zeroes [@p begin, @p end) without touching pages that are zero already.
void zero(const Space& space, std::uint64_t begin, std::uint64_t end) noexcept
{
    while (begin < end) {
        const std::uint64_t page = begin >> page_shift;
        const std::uint64_t stop = std::min(end, (page + 1) << page_shift);
        if (space.flags[page] != 0)
            std::memset(space.bytes + begin, 0, stop - begin);
        begin = stop;
    }
}

/// The checks of `init_pages`, in the order in which they are reported.
Result<void> check_init_pages(const Space& space,
                              std::uint64_t address,
                              std::uint64_t size,
                              std::uint64_t offset) noexcept
{
    const std::uint64_t end = address + size;
    if (address % page_size != 0)
        return refuse(ErrorCode::mem_page_unaligned_access, address);
    if (size % page_size != 0)
        return refuse(ErrorCode::mem_page_unaligned_access, end);
    if (address > space.size)
        return refuse(ErrorCode::mem_out_of_bound, address);
    if (size > space.size - address)
        return refuse(ErrorCode::mem_out_of_bound, end);
    if (offset > size)
        return refuse(ErrorCode::mem_out_of_bound, offset, BoundKind::external_data);
    for (std::uint64_t page = address >> page_shift; page < end >> page_shift; ++page) {
        if ((space.flags[page] & page_flag::frozen) != 0)
            return refuse(ErrorCode::mem_write_on_frozen_page, page);
    }
    return {};
}
}  // namespace

std::uint64_t Memory::size() const noexcept
{
    return m_space->size;
}

Result<void> Memory::read(std::uint64_t address, std::span<std::byte> to) const noexcept
{
    const auto bytes = view(address, to.size());
    if (!bytes)
        return std::unexpected{bytes.error()};
    if (!to.empty())
        std::memmove(to.data(), bytes->data(), to.size());
    return {};
}

Result<void> Memory::write(std::uint64_t address, std::span<const std::byte> from) noexcept
{
    if (from.empty())
        return {};
    if (auto ready = prepare_write(*m_space, address, from.size()); !ready)
        return ready;
    // The source may be a view of this very memory.
    std::memmove(m_space->bytes + address, from.data(), from.size());
    return {};
}

Result<void> Memory::fill(std::uint64_t address, std::uint64_t length, std::byte value) noexcept
{
    if (length == 0)
        return {};
    if (auto ready = prepare_write(*m_space, address, length); !ready)
        return ready;
    std::memset(m_space->bytes + address, std::to_integer<int>(value), length);
    return {};
}

Result<std::span<const std::byte>> Memory::view(std::uint64_t address,
                                                std::uint64_t length) const noexcept
{
    if (length == 0)
        return std::span<const std::byte>{};
    Fault fault;
    if (!Space::in_bounds(address, length, m_space->size, m_space->size, fault))
        return refuse(fault);
    return std::as_bytes(std::span{m_space->bytes + address, length});
}

Result<void> Memory::init_pages(std::uint64_t address,
                                std::uint64_t size,
                                std::uint8_t flags,
                                std::span<const std::byte> source,
                                std::uint64_t offset) noexcept
{
    if (auto ready = check_init_pages(*m_space, address, size, offset); !ready)
        return ready;

    // The source goes first: it may be a view of the range that is about to be zeroed.
    const std::uint64_t copied = std::min<std::uint64_t>(source.size(), size - offset);
    const std::uint64_t begin = address + offset;
    if (copied != 0) {
        memory::back_pages(*m_space, address, offset + copied);
        std::memmove(m_space->bytes + begin, source.data(), copied);
    }
    zero(*m_space, address, begin);  // NOLINT(readability-suspicious-call-argument)
    zero(*m_space, begin + copied, address + size);

    std::uint8_t all_flags = 0;
    for (std::uint64_t page = address >> page_shift; page < (address + size) >> page_shift; ++page)
    {
        m_space->flags[page] |= static_cast<std::uint8_t>(flags | page_flag::dirty);
        all_flags |= m_space->flags[page];
    }
    if ((all_flags & page_flag::executable) != 0)
        ++m_space->code_epoch;
    return {};
}

Result<std::uint8_t> Memory::flags(std::uint64_t page) const noexcept
{
    if (page >= m_space->page_count())
        return refuse(ErrorCode::mem_out_of_bound, page << page_shift);
    return m_space->flags[page];
}
}  // namespace mopvm
