// SPDX-License-Identifier: MIT
// The code that one machine sees: its program's shared image, and an overlay of its own.

#include "code/code_view.hpp"

#include "code/fetch.hpp"
#include "code/lookahead.hpp"

#include <atomic>
#include <cassert>
#include <cstddef>
#include <new>
#include <utility>
#include <vector>

namespace mopvm::code
{
std::vector<std::uint64_t> executable_pages(const memory::Space& space)
{
    std::vector<std::uint64_t> pages;
    for (std::uint64_t page = 0; page < space.page_count(); ++page) {
        if ((space.flags[page] & page_flag::executable) != 0)
            pages.push_back(page);
    }
    return pages;
}

void CodeView::reset() noexcept
{
    m_shared.reset();
    m_overlay.reset();
    m_targets.clear();
    m_epoch = 0;
}

void CodeView::share(std::shared_ptr<CodeImage> image, const memory::Space& space) noexcept
{
    m_shared = std::move(image);
    m_overlay.reset();
    m_targets.clear();
    m_epoch = space.code_epoch;
}

Result<void> CodeView::rebuild_overlay(const memory::Space& space) noexcept
try {
    std::vector<std::uint64_t> own;
    bool previous_executable = false;
    for (std::uint64_t page = 0; page < space.page_count(); ++page) {
        const bool executable = (space.flags[page] & page_flag::executable) != 0;
        if (executable && (m_shared == nullptr || !m_shared->covers(page))) {
            if (previous_executable && (own.empty() || own.back() != page - 1))
                own.push_back(page - 1);
            own.push_back(page);
        }
        previous_executable = executable;
    }
    m_overlay.reset();
    m_targets.clear();
    if (!own.empty())
        m_overlay = std::make_unique<CodeImage>(m_config, own, CodeImage::Owner::machine);
    m_epoch = space.code_epoch;
    return {};
} catch (const std::bad_alloc&) {
    return std::unexpected{Error{.code = ErrorCode::out_of_memory}};
}

const isa::Operation* CodeView::operation_at(std::uint64_t pc,
                                             const memory::Space& space,
                                             memory::Fault& fault) noexcept
{
    Lookahead code{pc, m_config, space};
    if (code.next(m_operation)) [[likely]]
        return &m_operation;
    fault = code.fault();
    return nullptr;
}

// Blocks do not overlap, so the head is the nearest below. What is a head is known by where the
// block of its address is: nothing else is there. Other threads may resolve links that are looked
// at.
const Block& CodeView::holder(const std::uint64_t* place) const noexcept
{
    [[maybe_unused]] constexpr std::size_t max_distance =
        sizeof(Block) + max_block_operations * max_operation_bytes + max_body_overhead;
    const std::uint64_t* word = place - sizeof(Block) / sizeof(*place);
    for (;; --word) {
        assert(static_cast<std::size_t>(place - word) * sizeof(*word) <= max_distance);
        const auto pc = static_cast<std::uint32_t>(
            std::atomic_ref{const_cast<std::uint64_t&>(*word)}.load(std::memory_order_relaxed));
        for (const CodeImage* image : {m_overlay.get(), m_shared.get()}) {
            const Block* const block = image != nullptr ? image->find(pc) : nullptr;
            if (static_cast<const void*>(block) == word)
                return *block;
        }
    }
}

std::size_t CodeView::decoded_bytes() const noexcept
{
    return (m_shared != nullptr ? m_shared->decoded_bytes() : 0) +
           (m_overlay != nullptr ? m_overlay->decoded_bytes() : 0);
}

const Block* CodeView::find_slow(std::uint64_t pc,
                                 const memory::Space& space,
                                 memory::Fault& fault) noexcept
{
    const std::uint64_t page = pc >> memory::page_shift;
    CodeImage* image = nullptr;
    if (m_overlay != nullptr && m_overlay->covers(page))
        image = m_overlay.get();
    else if (m_shared != nullptr && m_shared->covers(page))
        image = m_shared.get();
    if (image == nullptr) {
        // Every executable page belongs to one of the images, so this fetch fails and says why.
        std::uint32_t bits = 0;
        [[maybe_unused]] const bool fetched = fetch(space, pc, bits, fault);
        assert(!fetched);
        return nullptr;
    }
    if (const Block* block = image->find(pc); block != nullptr)
        return block;
    return image->build(pc, space, fault);
}
}  // namespace mopvm::code
