// SPDX-License-Identifier: MIT
/// @file
/// Mapping, zeroing and recycling of guest memory.

#include "memory/mapping.hpp"

#include "support/noise.hpp"
#include "support/poison.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <cassert>
#include <cstddef>
#include <cstring>
#include <mutex>
#include <new>
#include <string>

namespace mopvm::memory
{
namespace
{
/// Guest bytes, and behind them the flag bytes.
std::size_t used_bytes(std::uint64_t size) noexcept
{
    return size + (size >> page_shift);
}

/// Those, and what they leave of their last page.
std::size_t mapped_bytes(std::uint64_t size) noexcept
{
    return (used_bytes(size) + page_size - 1) / page_size * page_size;
}

/// Null when the host refuses.
std::uint8_t* map(std::uint64_t size) noexcept
{
    void* const base = ::mmap(nullptr, mapped_bytes(size), PROT_READ | PROT_WRITE,
                              MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (base == MAP_FAILED)
        return nullptr;
    auto* const bytes = static_cast<std::uint8_t*>(base);
    support::poison(bytes + used_bytes(size), mapped_bytes(size) - used_bytes(size));
    return bytes;
}

void unmap(std::uint8_t* base, std::uint64_t size) noexcept
{
    support::unpoison(base, mapped_bytes(size));
    ::munmap(base, mapped_bytes(size));
}

/// Zeroed mappings that wait for their next machine, the newest last.
class Pool
{
public:
    /// The newest mapping of @p size guest bytes, or null.
    std::uint8_t* take(std::uint64_t size) noexcept
    {
        const std::lock_guard lock{m_mutex};
        for (std::size_t i = m_count; i-- > 0;) {
            if (m_blocks[i].size == size) {
                std::uint8_t* const base = m_blocks[i].base;
                remove(i);
                support::unpoison(base, used_bytes(size));
                return base;
            }
        }
        return nullptr;
    }

    /// Keeps @p base, giving older ones back to the host to make room. @p size is not above
    /// `Mapping::max_kept_bytes`.
    void give(std::uint8_t* base, std::uint64_t size) noexcept
    {
        const std::lock_guard lock{m_mutex};
        while (m_kept_bytes + size > Mapping::max_kept_bytes)
            drop_oldest();
        m_blocks[m_count++] = {.base = base, .size = size};
        m_kept_bytes += size;
        support::poison(base, used_bytes(size));
    }

    /// Gives everything back to the host.
    void drop_all() noexcept
    {
        const std::lock_guard lock{m_mutex};
        while (m_count != 0)
            drop_oldest();
    }

private:
    struct Block
    {
        std::uint8_t* base = nullptr;
        std::uint64_t size = 0;
    };

    void remove(std::size_t index) noexcept
    {
        m_kept_bytes -= m_blocks[index].size;
        std::copy(m_blocks.begin() + static_cast<std::ptrdiff_t>(index) + 1,
                  m_blocks.begin() + static_cast<std::ptrdiff_t>(m_count),
                  m_blocks.begin() + static_cast<std::ptrdiff_t>(index));
        --m_count;
    }

    void drop_oldest() noexcept
    {
        unmap(m_blocks[0].base, m_blocks[0].size);
        remove(0);
    }

    std::mutex m_mutex;
    std::array<Block, Mapping::max_kept_bytes / min_memory_size> m_blocks{};
    std::size_t m_count = 0;
    std::uint64_t m_kept_bytes = 0;
};

constinit Pool pool;

[[maybe_unused]] bool holds_zeros(const Space& space) noexcept
{
    // Each byte equals the next.
    return space.bytes[0] == 0 &&
           std::memcmp(space.bytes, space.bytes + 1, used_bytes(space.size) - 1) == 0;
}

/// Measured: zeroing a written page in place costs a fraction of what the host takes to remove it
/// and to supply a new one.
void zero_written_pages(const Space& space) noexcept
{
    using FlagGroup = std::uint64_t;
    static_assert(memory_size_unit / page_size % sizeof(FlagGroup) == 0);
    for (std::uint64_t page = 0; page < space.page_count(); page += sizeof(FlagGroup)) {
        FlagGroup group = 0;
        std::memcpy(&group, space.flags + page, sizeof(group));
        if (group == 0)
            continue;
        for (std::uint64_t written = page; written < page + sizeof(FlagGroup); ++written) {
            if (space.flags[written] == 0)
                continue;
            std::uint8_t* const bytes = space.bytes + (written << page_shift);
            support::fill_with_noise(bytes, page_size);
            std::memset(bytes, 0, page_size);
        }
        std::memset(space.flags + page, 0, sizeof(FlagGroup));
    }
    assert(!support::noise || holds_zeros(space));
}

/// In builds with noise: makes a new mapping what another machine might have left, every byte and
/// every flag written, and then what it must be.
void zero_noise([[maybe_unused]] const Space& space) noexcept
{
    if constexpr (support::noise) {
        support::unpoison(space.bytes, mapped_bytes(space.size));
        support::fill_with_noise(space.bytes, mapped_bytes(space.size));
        support::poison(space.bytes + used_bytes(space.size),
                        mapped_bytes(space.size) - used_bytes(space.size));
        zero_written_pages(space);
    }
}

bool is_allowed_size(std::uint64_t size) noexcept
{
    return size >= min_memory_size && size <= max_memory_size && size % memory_size_unit == 0;
}

Error invalid_size(std::uint64_t size) noexcept
try {
    return {.code = ErrorCode::invalid_config,
            .text = "memory_size is " + std::to_string(size) + ", but must be a multiple of " +
                    std::to_string(memory_size_unit) + " from " + std::to_string(min_memory_size) +
                    " to " + std::to_string(max_memory_size)};
} catch (const std::bad_alloc&) {
    return {.code = ErrorCode::out_of_memory};
}
}  // namespace

Result<Mapping> Mapping::create(std::uint64_t size, Version version) noexcept
{
    if (!is_allowed_size(size))
        return std::unexpected{invalid_size(size)};

    std::uint8_t* base = pool.take(size);
    const bool cold = base == nullptr;
    if (base == nullptr)
        base = map(size);
    if (base == nullptr) {
        // Under a limit of address space the kept mappings may be what is in the way.
        pool.drop_all();
        base = map(size);
    }
    if (base == nullptr)
        return std::unexpected{Error{.code = ErrorCode::out_of_memory}};

    Mapping mapping{Space{.bytes = base,
                          .flags = base + size,
                          .size = size,
                          .load_end = version == Version::v0 ? size - 1 : size,
                          .code_epoch = 0,
                          .cold = cold}};
    if (cold)
        zero_noise(mapping.m_space);
    return mapping;
}

Mapping& Mapping::operator=(Mapping&& other) noexcept
{
    Mapping taken{std::move(other)};
    std::swap(m_space, taken.m_space);
    return *this;
}

Mapping::~Mapping()
{
    if (m_space.bytes == nullptr)
        return;
    if (m_space.size > max_kept_bytes) {
        unmap(m_space.bytes, m_space.size);
        return;
    }
    zero_written_pages(m_space);
    pool.give(m_space.bytes, m_space.size);
}

Result<void> Mapping::clear() noexcept
{
    zero_written_pages(m_space);
    m_space.code_epoch = 0;
    m_space.cold = false;
    return {};
}

void back_pages(const Space& space, std::uint64_t address, std::uint64_t length) noexcept
{
#ifdef MADV_POPULATE_WRITE
    if (space.cold && length > page_size)
        ::madvise(space.bytes + address, length, MADV_POPULATE_WRITE);
#else
    static_cast<void>(space), static_cast<void>(address), static_cast<void>(length);
#endif
}
}  // namespace mopvm::memory
