// SPDX-License-Identifier: MIT
// Building blocks: fetch, decode, fuse, price and write down.

#include "code/code_image.hpp"

#include "code/lookahead_inline.hpp"
#include "support/emitted_reads.hpp"

#include <algorithm>
#include <new>
#include <type_traits>

namespace mopvm::code
{
namespace
{
/// Room for elements that begin when they are assigned: most builds need few of them, and zeroing
/// the others would cost as much as decoding.
template <typename T, std::size_t size>
class Room
{
    static_assert(std::is_trivially_copyable_v<T>);

public:
    [[nodiscard]] T& operator[](std::size_t i) noexcept
    {
        return *std::launder(reinterpret_cast<T*>(m_bytes.data()) + i);
    }
    /// The first @p count elements.
    [[nodiscard]] std::span<const T> first(std::size_t count) const noexcept
    {
        return {reinterpret_cast<const T*>(m_bytes.data()), count};
    }

private:
    // NOLINTNEXTLINE(bugprone-sizeof-expression): some elements are pointers.
    alignas(T) std::array<std::byte, size * sizeof(T)> m_bytes;
};
}  // namespace

/// What one call of `build` collects before it takes memory: one block, and those behind untaken
/// branches.
class CodeImage::Builder
{
public:
    Builder(const CodeImage& image, CodePage& page, std::uint64_t pc, const memory::Space& space)
        : m_image{image},
          m_page{page},
          m_first_page{pc >> memory::page_shift},
          m_code{pc, image.m_config, space}
    {}

    /// Decodes. @return false with @p fault set when there is no first instruction.
    [[nodiscard]] bool collect(memory::Fault& fault) noexcept
    {
        const bool full = m_page.operation_count >= max_page_operations;
        if (!collect_block(full ? 1 : max_block_operations)) {
            fault = m_code.fault();
            return false;
        }
        while (!full && can_follow() && collect_block(max_block_operations)) {
            if (m_heads[m_count - 1].head.provisional) {
                // Nothing may lead there without a look-up.
                --m_count;
                m_operation_count = m_heads[m_count].first_operation;
                break;
            }
            m_heads[m_count - 2].next_follows = true;
        }
        return true;
    }

    /// Bytes that `write` needs at most.
    [[nodiscard]] std::size_t max_bytes() const noexcept
    {
        return m_operation_count * max_operation_bytes +
               m_count * (sizeof(Block) + max_body_overhead);
    }

    /// Writes all blocks to @p to. @return their bytes.
    std::size_t write(std::byte* to) noexcept
    {
        std::size_t bytes = 0;
        for (std::uint32_t i = 0; i < m_count; ++i) {
            m_written[i] = ::new (to + bytes) Block{m_heads[i].head};  // NOLINT(*-owning-memory)
            bytes += sizeof(Block);
            bytes += m_image.m_config.format->write_body(to + bytes, source(i), m_image);
        }
        m_page.operation_count += m_operation_count;
        return bytes;
    }

    /// What was written.
    [[nodiscard]] std::span<const Block* const> blocks() const noexcept
    {
        return m_written.first(m_count);
    }

private:
    struct Head
    {
        Block head;
        std::uint32_t first_operation = 0;
        bool next_follows = false;
    };

    [[nodiscard]] BlockSource source(std::uint32_t i) noexcept
    {
        const Head& head = m_heads[i];
        return {.head = head.head,
                .operations = m_operations.first(m_operation_count)
                                  .subspan(head.first_operation, head.head.operations),
                .next_follows = head.next_follows};
    }

    /// Appends the block at the current address. @return false when there is no instruction.
    bool collect_block(std::uint32_t limit) noexcept
    {
        Head made{.head = {.pc = static_cast<std::uint32_t>(m_code.pc()),
                           .own = m_image.m_owner == Owner::machine},
                  .first_operation = m_operation_count};
        const std::uint32_t first = m_operation_count;
        const std::uint32_t end = std::min(first + limit, max_build_operations);
        std::uint64_t next_begin = m_page.next_begin(m_code.pc());
        while (m_operation_count < end) {
            if (m_code.pc() >= next_begin) [[unlikely]] {
                // What is there already is reached by a jump.
                if (!in_page() || m_page.find(m_code.pc()) != nullptr)
                    break;
                next_begin = m_page.next_begin(m_code.pc());
            }
            isa::Operation& operation = m_operations[m_operation_count];
            if (!m_code.next_inline(operation))
                break;  // reported when it is reached
            ++m_operation_count;
            made.head.cost += operation.cost;
            made.head.provisional |= m_code.refused();
            if (isa::ends_block(operation.opcode))
                break;
        }
        made.head.operations = static_cast<std::uint16_t>(m_operation_count - first);
        if (made.head.operations == 0)
            return false;
        m_heads[m_count++] = made;
        return true;
    }

    [[nodiscard]] bool in_page() const noexcept
    {
        return m_code.pc() >> memory::page_shift == m_first_page;
    }

    /// True when the last block ends in a branch, and what it falls into has not been built.
    [[nodiscard]] bool can_follow() noexcept
    {
        const isa::Operation& last = m_operations[m_operation_count - 1];
        return m_image.m_config.format->follows_branches &&
               isa::traits(last.opcode).flow == isa::Flow::branch && m_count < max_build_blocks &&
               m_operation_count < max_build_operations && in_page() &&
               m_page.find(m_code.pc()) == nullptr;
    }

    const CodeImage& m_image;
    CodePage& m_page;
    std::uint64_t m_first_page;
    Lookahead m_code;
    std::uint32_t m_count = 0;
    std::uint32_t m_operation_count = 0;
    Room<Head, max_build_blocks> m_heads;
    Room<isa::Operation, max_build_operations> m_operations;
    Room<const Block*, max_build_blocks> m_written;
};

CodeImage::CodeImage(const CodeConfig& config, std::span<const std::uint64_t> pages, Owner owner)
    : m_config{config},
      m_owner{owner},
      m_first_page{pages.empty() ? 0 : pages.front()},
      m_pages(pages.empty() ? 0 : pages.back() - pages.front() + 1)
{
    for (const std::uint64_t page : pages)
        m_pages[page - m_first_page].covered = true;
}

const Block* CodeImage::build(std::uint64_t pc,
                              const memory::Space& space,
                              memory::Fault& fault) noexcept
try {
    const std::scoped_lock lock{m_mutex};
    if (const Block* block = find(pc); block != nullptr)
        return block;  // another thread was faster

    CodePage& page = page_at(pc);
    Builder builder{*this, page, pc, space};
    if (!builder.collect(fault))
        return nullptr;
    std::byte* const storage = m_storage.reserve(builder.max_bytes());
    m_storage.commit(builder.write(storage));
    for (const Block* block : builder.blocks())
        publish(page, *block);
    return find(pc);
} catch (const std::bad_alloc&) {
    fault = {ErrorCode::out_of_memory, 0};
    return nullptr;
}

std::size_t CodeImage::decoded_bytes() noexcept
{
    const std::scoped_lock lock{m_mutex};
    return m_storage.used();
}

CodePage& CodeImage::page_at(std::uint64_t pc)
{
    std::atomic<CodePage*>& slot = m_pages[(pc >> memory::page_shift) - m_first_page].page;
    if (CodePage* page = slot.load(std::memory_order_relaxed); page != nullptr)
        return *page;
    auto* const page = m_storage.make<CodePage>();
    slot.store(page, std::memory_order_release);
    return *page;
}

/// When memory runs out half-way, the blocks that are not published are built again when needed.
void CodeImage::publish(CodePage& page, const Block& block)
{
    const std::size_t halfword = block.pc % page_size / 2;
    std::atomic<CodeLine*>& slot = page.lines[halfword / CodeLine::halfwords];
    CodeLine* line = slot.load(std::memory_order_relaxed);
    if (line == nullptr) {
        line = m_storage.make<CodeLine>();
        slot.store(line, std::memory_order_release);
    }
    line->blocks[halfword % CodeLine::halfwords].store(&block, std::memory_order_release);
    line->begun |= std::uint64_t{1} << halfword % CodeLine::halfwords;
    support::published_for_emitted_code();
}
}  // namespace mopvm::code
