// SPDX-License-Identifier: MIT
/// @file
/// Everything that was decoded from a set of executable pages under one configuration.
#pragma once

#include "code/block.hpp"
#include "decoder/decoder.hpp"
#include "memory/space.hpp"

#include <mopvm/config.hpp>

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <memory_resource>
#include <mutex>
#include <span>
#include <vector>

namespace mopvm::code
{
/// What decoding depends on beside the bytes.
struct CodeConfig
{
    decoder::Isa isa;
    bool fusion = false;
    CostModel cost_model;

    friend bool operator==(const CodeConfig&, const CodeConfig&) = default;
};

/// The part of @p config that decoding depends on.
[[nodiscard]] CodeConfig code_config(const Config& config) noexcept;

/// The decoded form of one page: an instruction and a block for each halfword, made when first
/// needed. Nothing is ever evicted or decoded twice.
struct CodePage
{
    static constexpr std::size_t halfwords = page_size / 2;

    /// Blocks by the halfword at which they begin; null until built. Read without a lock.
    std::array<std::atomic<const Block*>, halfwords> blocks{};
    /// Decoded instructions; `invalid` where none was decoded yet. Guarded by the image's mutex.
    std::array<isa::Instruction, halfwords> instructions{};
    /// Operations in all of its blocks. Guarded by the image's mutex.
    std::uint32_t operation_count = 0;
};

/// Once the blocks of a page hold this many operations, further ones get a single operation each.
/// A guest that enters a page at every halfword thus makes it take at most `max_page_bytes`.
inline constexpr std::uint32_t max_page_operations = 4 * CodePage::halfwords;

/// Host bytes that the decoded form of one guest page can take.
inline constexpr std::size_t max_page_bytes =
    sizeof(CodePage) +
    (std::size_t{max_page_operations} + max_block_operations) * sizeof(isa::Operation) +
    CodePage::halfwords * Block::bytes(1);

/// Decoded code of a fixed set of pages, whose bytes and permissions cannot change while it lives.
/// Any number of threads may use one image at once; what one decodes serves all. A block that is
/// there is found without a lock; a missing one is built under a mutex and published once.
class CodeImage
{
public:
    /// An image of the pages that @p pages lists in ascending order. @throws std::bad_alloc
    CodeImage(const CodeConfig& config, std::span<const std::uint64_t> pages);

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
        if (page == nullptr) [[unlikely]]
            return nullptr;
        return page->blocks[pc % page_size / 2].load(std::memory_order_acquire);
    }

    /// Builds the block at @p pc, an even address in a covered page, from the bytes in @p space.
    /// @return null with @p fault set when its first instruction cannot be fetched or decoded, or
    /// the host has no memory left.
    [[nodiscard]] const Block* build(std::uint64_t pc,
                                     const memory::Space& space,
                                     memory::Fault& fault) noexcept;

    /// Decodes and fuses the one operation at @p pc, any address, without keeping it.
    /// @return false with @p fault set when it cannot be fetched or decoded.
    [[nodiscard]] static bool decode_operation(std::uint64_t pc,
                                               const memory::Space& space,
                                               const CodeConfig& config,
                                               isa::Operation& operation,
                                               memory::Fault& fault) noexcept;

private:
    struct PageSlot
    {
        std::atomic<CodePage*> page = nullptr;
        bool covered = false;
    };

    [[nodiscard]] CodePage& page_at(std::uint64_t pc);
    [[nodiscard]] const Block* append_block(CodePage& page,
                                            std::uint64_t pc,
                                            std::span<const isa::Operation> operations);

    CodeConfig m_config;
    std::uint64_t m_first_page;
    std::vector<PageSlot> m_pages;

    std::mutex m_mutex;                             ///< Guards everything below, and building.
    std::pmr::monotonic_buffer_resource m_storage;  ///< Holds the blocks.
    std::vector<std::unique_ptr<CodePage>> m_owned;
};
}  // namespace mopvm::code
