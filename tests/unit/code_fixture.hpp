// SPDX-License-Identifier: MIT
/// @file
/// What the tests of decoded code share: memory with executable pages, and images of them.
#pragma once

#include "code/code_view.hpp"
#include "memory/mapping.hpp"
#include "support/assembler.hpp"

#include <mopvm/memory.hpp>

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

namespace mopvm::test
{
/// Start of the two pages that are executable in every test.
inline constexpr std::uint64_t code_base = 0x10000;
inline constexpr std::uint16_t c_nop = 0x0001;

/// Memory with some executable pages.
class CodeTest : public testing::Test
{
protected:
    CodeTest() { map(code_base, 2 * page_size); }

    /// Makes the pages from @p address on executable, with @p bytes in them.
    void map(std::uint64_t address, std::uint64_t size, std::span<const std::byte> bytes = {})
    {
        ASSERT_TRUE(Memory{space()}.init_pages(address, size, page_flag::executable, bytes, 0));
    }
    void put(std::uint64_t address, std::uint32_t bits, std::size_t bytes)
    {
        std::memcpy(space().bytes + address, &bits, bytes);
        space().flags[address / page_size] |= page_flag::dirty;
    }
    void put(const Assembler& a)
    {
        const auto code = a.code();
        std::memcpy(space().bytes + a.base(), code.data(), code.size());
    }
    /// Fills the two pages with instructions of two bytes that do nothing.
    void put_nops()
    {
        for (std::uint64_t at = code_base; at < code_base + 2 * page_size; at += 2)
            put(at, c_nop, 2);
    }
    memory::Space& space() { return m_mapping.space(); }

    static code::CodeConfig config(bool fusion = true,
                                   const code::BlockFormat& format = code::operation_format)
    {
        return {.isa = {.version = Version::v2, .b = true, .a = true},
                .fusion = fusion,
                .cost_model = CostModel::standard(),
                .format = &format};
    }
    code::CodeImage image(bool fusion = true)
    {
        return code::CodeImage{config(fusion), code::executable_pages(space())};
    }
    /// The operations of the block at @p pc; none when there is no instruction.
    std::vector<isa::Operation> build(code::CodeImage& image, std::uint64_t pc)
    {
        const code::Block* block = image.build(pc, space(), m_fault);
        if (block == nullptr)
            return {};
        return {code::operations(*block).begin(), code::operations(*block).end()};
    }

    memory::Mapping m_mapping = *memory::Mapping::create(default_memory_size, Version::v2);
    memory::Fault m_fault;
};
}  // namespace mopvm::test
