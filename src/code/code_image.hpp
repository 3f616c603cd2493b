// SPDX-License-Identifier: MIT
/// @file
/// Everything that was decoded from a set of executable pages under one configuration.
#pragma once

#include "code/block.hpp"
#include "code/code_config.hpp"
#include "code/storage.hpp"
#include "memory/space.hpp"

#include <array>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <span>
#include <vector>

namespace mopvm::code
{
/// A stretch of code: its blocks by the halfword at which they begin; null until built. Read
/// without a lock.
struct CodeLine
{
    static constexpr std::size_t halfwords = 64;

    std::array<std::atomic<const Block*>, halfwords> blocks{};
    /// A bit for each of them, the lowest for the first. Guarded by the image's mutex.
    std::uint64_t begun = 0;
};
static_assert(CodeLine::halfwords == 64);

/// The decoded form of one page, made when first needed. Nothing is ever evicted or decoded anew.
struct CodePage
{
    static constexpr std::size_t halfwords = page_size / 2;
    static constexpr std::size_t line_count = halfwords / CodeLine::halfwords;

    /// The block at @p pc, an even address in this page, if it has been built.
    [[nodiscard]] const Block* find(std::uint64_t pc) const noexcept
    {
        const std::size_t halfword = pc % page_size / 2;
        const CodeLine* line =
            lines[halfword / CodeLine::halfwords].load(std::memory_order_acquire);
        if (line == nullptr) [[unlikely]]
            return nullptr;
        return line->blocks[halfword % CodeLine::halfwords].load(std::memory_order_acquire);
    }

    /// How far behind @p pc, an even address in this page, no block begins: where the next one
    /// does, if not at the end of the line. Guarded by the image's mutex.
    [[nodiscard]] std::uint64_t next_begin(std::uint64_t pc) const noexcept
    {
        const std::size_t halfword = pc % page_size / 2;
        const std::size_t place = halfword % CodeLine::halfwords;
        const CodeLine* line =
            lines[halfword / CodeLine::halfwords].load(std::memory_order_relaxed);
        const std::uint64_t behind = line == nullptr ? 0 : line->begun >> place >> 1;
        const std::size_t distance = behind == 0
                                         ? CodeLine::halfwords - place
                                         : static_cast<std::size_t>(std::countr_zero(behind)) + 1;
        return pc + 2 * distance;
    }

    /// Null where no block begins. Read without a lock.
    std::array<std::atomic<CodeLine*>, line_count> lines{};
    /// Operations in all of its blocks. Guarded by the image's mutex.
    std::uint32_t operation_count = 0;
};

/// Operations and blocks that one call of `CodeImage::build` writes down at most.
inline constexpr std::uint32_t max_build_operations = 2 * max_block_operations;
inline constexpr std::uint32_t max_build_blocks = 16;

/// Once the blocks of a page hold this many operations, further ones get a single operation each.
/// A guest that enters a page at every halfword thus makes it take at most `max_page_bytes`.
inline constexpr std::uint32_t max_page_operations = 2 * CodePage::halfwords;

/// Host bytes that the decoded form of one guest page can take.
inline constexpr std::size_t max_page_bytes =
    sizeof(CodePage) + CodePage::line_count * sizeof(CodeLine) +
    (max_page_operations + max_build_operations + CodePage::halfwords) * max_operation_bytes +
    CodePage::halfwords * (sizeof(Block) + max_body_overhead + Storage::alignment);
static_assert(max_build_operations * max_operation_bytes +
                  max_build_blocks * (sizeof(Block) + max_body_overhead) <=
              Storage::chunk_bytes - Storage::alignment);

/// Decoded code of a fixed set of pages, whose bytes and permissions cannot change while it lives.
/// Any number of threads may use one image at once; what one decodes serves all. A block that is
/// there is found without a lock; a missing one is built under a mutex and published once.
class CodeImage
{
public:
    /// To whom an image belongs.
    enum class Owner : std::uint8_t
    {
        program,  ///< All machines that run the program.
        machine,  ///< One machine.
    };

    /// An image of the pages that @p pages lists in ascending order. @throws std::bad_alloc
    CodeImage(const CodeConfig& config,
              std::span<const std::uint64_t> pages,
              Owner owner = Owner::program);

    /// True when the page of number @p page belongs to the image.
    [[nodiscard]] bool covers(std::uint64_t page) const noexcept
    {
        const std::uint64_t slot = page - m_first_page;
        return slot < m_pages.size() && m_pages[slot].covered;
    }

    /// The block at @p pc, an even address, if it has been built.
    [[nodiscard]] const Block* find(std::uint64_t pc) const noexcept
    {
        const std::uint64_t slot = (pc >> memory::page_shift) - m_first_page;
        if (slot >= m_pages.size()) [[unlikely]]
            return nullptr;
        const CodePage* page = m_pages[slot].page.load(std::memory_order_acquire);
        return page == nullptr ? nullptr : page->find(pc);
    }

    /// Builds the block at @p pc, an even address in a covered page, from the bytes in @p space;
    /// and, where the format wants them, those that untaken branches lead to.
    /// @return null with @p fault set when its first instruction cannot be fetched or decoded, or
    /// the host has no memory left.
    [[nodiscard]] const Block* build(std::uint64_t pc,
                                     const memory::Space& space,
                                     memory::Fault& fault) noexcept;

    /// Host bytes that the decoded form takes: pages, lines and blocks.
    [[nodiscard]] std::size_t decoded_bytes() noexcept;

private:
    struct PageSlot
    {
        std::atomic<CodePage*> page = nullptr;
        bool covered = false;
    };
    class Builder;

    [[nodiscard]] CodePage& page_at(std::uint64_t pc);
    void publish(CodePage& page, const Block& block);

    CodeConfig m_config;
    Owner m_owner;
    std::uint64_t m_first_page;
    std::vector<PageSlot> m_pages;

    std::mutex m_mutex;  ///< Guards everything below, and building.
    Storage m_storage;
};
}  // namespace mopvm::code
