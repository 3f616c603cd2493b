// SPDX-License-Identifier: MIT
/// @file
/// The code that one machine sees: its program's shared image, and an overlay of its own.
#pragma once

#include "code/code_image.hpp"

#include <cstdint>
#include <memory>
#include <vector>

namespace mopvm::code
{
/// Finds the block at any address for one machine.
///
/// Pages that were executable right after the ELF load are in the shared image. Pages that became
/// executable later belong to this machine alone and are in its overlay, together with the page in
/// front of each: what was decoded at that page's end may have been refused before and not now.
class CodeView
{
public:
    explicit CodeView(const CodeConfig& config) noexcept : m_config{config} {}

    [[nodiscard]] const CodeConfig& config() const noexcept { return m_config; }

    /// Forgets all code; the next `refresh` looks at memory again.
    void reset() noexcept;

    /// Uses @p image, decoded from exactly the pages of @p space that are executable now.
    void share(std::shared_ptr<CodeImage> image, const memory::Space& space) noexcept;

    /// Must be called before code is looked up whenever pages may have become executable. Blocks
    /// found before are no longer valid.
    [[nodiscard]] Result<void> refresh(const memory::Space& space) noexcept
    {
        if (m_epoch == space.code_epoch) [[likely]]
            return {};
        return rebuild_overlay(space);
    }

    /// The block at @p pc, valid until the next `find` at an odd address, `refresh`, `share` or
    /// `reset`.
    /// @return null with @p fault set when no instruction can be fetched or decoded there.
    [[nodiscard]] const Block* find(std::uint64_t pc,
                                    const memory::Space& space,
                                    memory::Fault& fault) noexcept
    {
        if (m_overlay == nullptr && (pc & 1) == 0 && m_shared != nullptr) [[likely]] {
            if (const Block* block = m_shared->find(pc); block != nullptr) [[likely]]
                return block;
        }
        return find_slow(pc, space, fault);
    }

private:
    [[nodiscard]] Result<void> rebuild_overlay(const memory::Space& space) noexcept;
    [[nodiscard]] const Block* find_slow(std::uint64_t pc,
                                         const memory::Space& space,
                                         memory::Fault& fault) noexcept;

    /// Room for a block of one operation.
    struct Scratch
    {
        Block block{1};
        isa::Operation operation;
    };
    static_assert(sizeof(Scratch) == Block::bytes(1));

    CodeConfig m_config;
    std::shared_ptr<CodeImage> m_shared;
    std::unique_ptr<CodeImage> m_overlay;
    std::uint64_t m_epoch = 0;  ///< `Space::code_epoch` that the overlay was made for.
    Scratch m_scratch;          ///< Odd addresses are rare enough to be decoded each time.
};

/// The numbers of the executable pages of @p space in ascending order. @throws std::bad_alloc
[[nodiscard]] std::vector<std::uint64_t> executable_pages(const memory::Space& space);
}  // namespace mopvm::code
