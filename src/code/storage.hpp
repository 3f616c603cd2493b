// SPDX-License-Identifier: MIT
/// @file
/// Where decoded code is kept: memory that only grows, in chunks that the process uses again.
#pragma once

#include "support/poison.hpp"

#include <algorithm>
#include <cstddef>
#include <memory>
#include <new>
#include <utility>

namespace mopvm::code
{
/// Memory for what lives as long as one `CodeImage`. Chunks of destroyed ones wait for the next, up
/// to `max_kept_bytes` in the whole process: supplying new pages costs the host more than decoding
/// what goes there.
class Storage
{
public:
    static constexpr std::size_t chunk_bytes = std::size_t{16} << 10;
    static constexpr std::size_t max_kept_bytes = std::size_t{4} << 20;
    /// Of everything that is reserved.
    static constexpr std::size_t alignment = alignof(std::max_align_t);

    Storage() = default;
    Storage(const Storage&) = delete;
    Storage& operator=(const Storage&) = delete;
    ~Storage();

    /// Room for @p bytes, at most `chunk_bytes` less `alignment`, that is good for as long as this.
    /// `commit` takes what is needed of it. @throws std::bad_alloc
    [[nodiscard]] std::byte* reserve(std::size_t bytes)
    {
        if (bytes > m_left) [[unlikely]]
            add_chunk();
        support::unpoison(m_next, bytes);
        return m_next;
    }
    /// Takes the first @p bytes of what was reserved last.
    void commit(std::size_t bytes) noexcept
    {
        const std::size_t rounded =
            std::min((bytes + alignment - 1) / alignment * alignment, m_left);
        support::poison(m_next + bytes, m_left - bytes);
        m_next += rounded;
        m_left -= rounded;
        m_used += rounded;
    }

    /// A value-initialised T that is never destroyed. @throws std::bad_alloc
    template <typename T>
    [[nodiscard]] T* make()
    {
        static_assert(std::is_trivially_destructible_v<T> && alignof(T) <= alignment);
        std::byte* const place = reserve(sizeof(T));
        commit(sizeof(T));
        // Owned by the storage, like all that is in it.
        // NOLINTNEXTLINE(cppcoreguidelines-owning-memory)
        return ::new (static_cast<void*>(place)) T{};
    }

    /// Bytes taken so far.
    [[nodiscard]] std::size_t used() const noexcept { return m_used; }

private:
    /// A chunk begins with the address of the one before it.
    struct Chunk
    {
        Chunk* previous = nullptr;
    };
    static constexpr std::size_t head_bytes =
        (sizeof(Chunk) + alignment - 1) / alignment * alignment;

    void add_chunk();

    Chunk* m_last = nullptr;
    std::byte* m_next = nullptr;
    std::size_t m_left = 0;
    std::size_t m_used = 0;
};
}  // namespace mopvm::code
