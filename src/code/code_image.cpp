// SPDX-License-Identifier: MIT
// Building blocks: fetch, decode, fuse and price.

#include "code/code_image.hpp"

#include "code/fetch.hpp"
#include "fusion/fuser.hpp"

#include <algorithm>
#include <new>

namespace mopvm::code
{
namespace
{
/// Fetches and decodes the instruction at @p pc.
bool decode_at(std::uint64_t pc,
               const memory::Space& space,
               const decoder::Isa& isa,
               isa::Instruction& instruction,
               memory::Fault& fault) noexcept
{
    std::uint32_t bits = 0;
    if (!fetch(space, pc, bits, fault))
        return false;
    instruction = decoder::decode(bits, isa);
    if (instruction.opcode == isa::Opcode::invalid) {
        fault = {ErrorCode::invalid_instruction, pc};
        return false;
    }
    return true;
}

/// Makes the operation at @p pc. @p decode yields the instruction at an address; its failure on the
/// first is the operation's, any later one only ends the look-ahead.
template <typename Decode>
bool make_operation(std::uint64_t pc,
                    const CodeConfig& config,
                    isa::Operation& operation,
                    memory::Fault& fault,
                    const Decode& decode)
{
    std::array<isa::Instruction, fusion::max_parts> window;
    if (!decode(pc, window[0], fault))
        return false;
    operation = isa::to_operation(window[0]);
    const std::size_t wanted =
        config.fusion ? fusion::window_size(window[0].opcode, config.isa.version) : 0;
    if (wanted > 1) {
        memory::Fault swallowed;
        std::uint64_t next = pc + window[0].length;
        std::size_t seen = 1;
        while (seen < wanted && !isa::ends_block(window[seen - 1].opcode) &&
               decode(next, window[seen], swallowed))
            next += window[seen++].length;
        if (const auto fused = fusion::fuse(std::span{window}.first(seen), pc, config.isa.version))
            operation = *fused;
    }
    operation.cost = config.cost_model[static_cast<std::uint8_t>(operation.opcode)];
    return true;
}
}  // namespace

CodeConfig code_config(const Config& config) noexcept
{
    return {.isa = {.version = config.version, .b = config.isa_b, .a = config.isa_a},
            .fusion = config.fusion,
            .cost_model = config.cost_model};
}

CodeImage::CodeImage(const CodeConfig& config, std::span<const std::uint64_t> pages)
    : m_config{config},
      m_first_page{pages.empty() ? 0 : pages.front()},
      m_pages(pages.empty() ? 0 : pages.back() - pages.front() + 1)
{
    for (const std::uint64_t page : pages)
        m_pages[page - m_first_page].covered = true;
}

bool CodeImage::decode_operation(std::uint64_t pc,
                                 const memory::Space& space,
                                 const CodeConfig& config,
                                 isa::Operation& operation,
                                 memory::Fault& fault) noexcept
{
    return make_operation(pc, config, operation, fault,
                          [&](std::uint64_t at, isa::Instruction& instruction, memory::Fault& why) {
                              return decode_at(at, space, config.isa, instruction, why);
                          });
}

const Block* CodeImage::build(std::uint64_t pc,
                              const memory::Space& space,
                              memory::Fault& fault) noexcept
try {
    const std::scoped_lock lock{m_mutex};
    if (const Block* block = find(pc); block != nullptr)
        return block;  // another thread was faster

    const auto decode = [&](std::uint64_t at, isa::Instruction& instruction,
                            memory::Fault& why) -> bool {
        // Look-ahead may leave the image's pages: what lies there is decoded but not kept.
        if (!covers(at >> memory::page_shift))
            return decode_at(at, space, m_config.isa, instruction, why);
        isa::Instruction& kept = page_at(at).instructions[at % page_size / 2];
        if (kept.opcode == isa::Opcode::invalid && !decode_at(at, space, m_config.isa, kept, why)) {
            kept = {};
            return false;
        }
        instruction = kept;
        return true;
    };

    CodePage& page = page_at(pc);
    const std::uint32_t limit =
        page.operation_count < max_page_operations ? max_block_operations : 1;
    std::array<isa::Operation, max_block_operations> operations;
    std::uint32_t count = 0;
    const std::uint64_t first_page = pc >> memory::page_shift;
    for (std::uint64_t at = pc; count < limit && at >> memory::page_shift == first_page;) {
        isa::Operation& operation = operations[count];
        memory::Fault why;
        if (!make_operation(at, m_config, operation, why, decode)) {
            if (count > 0)
                break;  // reported when it is reached
            fault = why;
            return nullptr;
        }
        ++count;
        at += operation.length;
        if (isa::ends_block(operation.opcode))
            break;
    }
    return append_block(page, pc, std::span{operations}.first(count));
} catch (const std::bad_alloc&) {
    fault = {ErrorCode::out_of_memory, 0};
    return nullptr;
}

CodePage& CodeImage::page_at(std::uint64_t pc)
{
    std::atomic<CodePage*>& slot = m_pages[(pc >> memory::page_shift) - m_first_page].page;
    if (CodePage* page = slot.load(std::memory_order_relaxed); page != nullptr)
        return *page;
    CodePage& page = *m_owned.emplace_back(std::make_unique<CodePage>());
    slot.store(&page, std::memory_order_release);
    return page;
}

const Block* CodeImage::append_block(CodePage& page,
                                     std::uint64_t pc,
                                     std::span<const isa::Operation> operations)
{
    const auto count = static_cast<std::uint32_t>(operations.size());
    void* storage = m_storage.allocate(Block::bytes(count), alignof(Block));
    const Block* block = ::new (storage) Block{count};
    auto* const first = reinterpret_cast<isa::Operation*>(static_cast<Block*>(storage) + 1);
    std::ranges::uninitialized_copy(operations, std::span{first, count});
    page.operation_count += count;
    page.blocks[pc % page_size / 2].store(block, std::memory_order_release);
    return block;
}
}  // namespace mopvm::code
