// SPDX-License-Identifier: MIT
/// @file
/// The code that one machine sees: its program's shared image, and an overlay of its own.
#pragma once

#include "code/code_image.hpp"
#include "support/noise.hpp"

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

namespace mopvm::code
{
/// Where computed jumps of one machine led before. Direct-mapped: an entry that another address
/// displaced is looked up again, never decoded again. Emitted code reads it.
struct TargetCache
{
    static constexpr std::size_t size = 512;

    struct Entry
    {
        std::uint64_t pc = no_target;
        const Block* block = support::spare_pointer<const Block>();
    };
    /// Odd, as no target is.
    static constexpr std::uint64_t no_target = 1;

    std::array<Entry, size> entries{};

    [[nodiscard]] Entry& at(std::uint64_t pc) noexcept { return entries[pc / 2 % size]; }
    void clear() noexcept { entries.fill({}); }
};

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

    /// The block at @p pc, an even address; valid until the next `refresh`, `share` or `reset`.
    /// @return null with @p fault set when no instruction can be fetched or decoded there.
    [[nodiscard]] const Block* find(std::uint64_t pc,
                                    const memory::Space& space,
                                    memory::Fault& fault) noexcept
    {
        if (m_overlay == nullptr && m_shared != nullptr) [[likely]] {
            if (const Block* block = m_shared->find(pc); block != nullptr) [[likely]]
                return block;
        }
        return find_slow(pc, space, fault);
    }

    /// The operation at @p pc, any address, decoded each time; valid until the next call.
    /// @return null with @p fault set when no instruction can be fetched or decoded there.
    [[nodiscard]] const isa::Operation* operation_at(std::uint64_t pc,
                                                     const memory::Space& space,
                                                     memory::Fault& fault) noexcept;

    /// The block whose body holds the word at @p place, which is in one.
    [[nodiscard]] const Block& holder(const std::uint64_t* place) const noexcept;

    /// Blocks that `find` gave for computed jumps. Empty again after `refresh` saw a change,
    /// `share` and `reset`.
    [[nodiscard]] TargetCache& targets() noexcept { return m_targets; }

    /// Host bytes of all decoded code that this view uses, shared code included.
    [[nodiscard]] std::size_t decoded_bytes() const noexcept;

private:
    [[nodiscard]] Result<void> rebuild_overlay(const memory::Space& space) noexcept;
    [[nodiscard]] const Block* find_slow(std::uint64_t pc,
                                         const memory::Space& space,
                                         memory::Fault& fault) noexcept;

    CodeConfig m_config;
    std::shared_ptr<CodeImage> m_shared;
    std::unique_ptr<CodeImage> m_overlay;
    std::uint64_t m_epoch = 0;   ///< `Space::code_epoch` that the overlay was made for.
    isa::Operation m_operation;  ///< What `operation_at` decoded last.
    TargetCache m_targets;
};

/// The numbers of the executable pages of @p space in ascending order. @throws std::bad_alloc
[[nodiscard]] std::vector<std::uint64_t> executable_pages(const memory::Space& space);
}  // namespace mopvm::code
