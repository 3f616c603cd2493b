// SPDX-License-Identifier: MIT
// Chunks of decoded code, and those that wait to be used again.

#include "code/storage.hpp"

#include "support/noise.hpp"

#include <array>
#include <mutex>

namespace mopvm::code
{
namespace
{
/// Chunks of destroyed storages.
class ChunkPool
{
public:
    /// A kept chunk, or null.
    std::byte* take() noexcept
    {
        const std::lock_guard lock{m_mutex};
        return m_count == 0 ? nullptr : m_chunks[--m_count];
    }

    /// @return false when enough are kept.
    bool keep(std::byte* chunk) noexcept
    {
        const std::lock_guard lock{m_mutex};
        if (m_count == m_chunks.size())
            return false;
        m_chunks[m_count++] = chunk;
        support::poison(chunk, Storage::chunk_bytes);
        return true;
    }

private:
    std::mutex m_mutex;
    std::array<std::byte*, Storage::max_kept_bytes / Storage::chunk_bytes> m_chunks{};
    std::size_t m_count = 0;
};

constinit ChunkPool pool;
}  // namespace

void Storage::add_chunk()
{
    std::byte* memory = pool.take();
    if (memory == nullptr)
        memory = static_cast<std::byte*>(::operator new(chunk_bytes));
    support::unpoison(memory, chunk_bytes);
    support::fill_with_noise(memory, chunk_bytes);
    m_last = ::new (static_cast<void*>(memory)) Chunk{m_last};  // NOLINT(*-owning-memory)
    m_next = memory + head_bytes;
    m_left = chunk_bytes - head_bytes;
    support::poison(m_next, m_left);
}

Storage::~Storage()
{
    while (m_last != nullptr) {
        auto* const chunk = reinterpret_cast<std::byte*>(std::exchange(m_last, m_last->previous));
        support::unpoison(chunk, chunk_bytes);
        support::fill_with_noise(chunk, chunk_bytes);
        if (!pool.keep(chunk))
            ::operator delete(chunk);
    }
}
}  // namespace mopvm::code
