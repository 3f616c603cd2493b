// SPDX-License-Identifier: MIT
// Fetching, building blocks, and what a machine sees of shared and own code.

#include "code/code_view.hpp"
#include "code/fetch.hpp"
#include "memory/mapping.hpp"
#include "support/assembler.hpp"

#include <mopvm/memory.hpp>

#include <gtest/gtest.h>

#include <numeric>
#include <optional>
#include <string>
#include <thread>
#include <vector>

namespace
{
using namespace mopvm;
using namespace mopvm::test;
using code::Block;
using code::CodeImage;
using code::CodePage;
using code::CodeView;

constexpr std::uint64_t base = 0x10000;
constexpr std::uint64_t base_page = base / page_size;
constexpr std::uint16_t c_nop = 0x0001;

/// Memory with some executable pages.
class CodeTest : public testing::Test
{
protected:
    CodeTest() { map(base, 2 * page_size); }

    /// Makes the pages from @p address on executable, with @p bytes in them.
    void map(std::uint64_t address, std::uint64_t size, std::span<const std::byte> bytes = {})
    {
        ASSERT_TRUE(Memory{space()}.init_pages(address, size, page_flag::executable, bytes, 0));
    }
    void put(std::uint64_t address, std::uint32_t bits, std::size_t bytes)
    {
        std::memcpy(space().bytes + address, &bits, bytes);
    }
    void put(const Assembler& a)
    {
        const auto code = a.code();
        std::memcpy(space().bytes + a.base(), code.data(), code.size());
    }
    memory::Space& space() { return m_mapping.space(); }

    /// The bits at @p pc, or the fault.
    std::string fetched(std::uint64_t pc)
    {
        std::uint32_t bits = 0;
        memory::Fault fault;
        if (code::fetch(space(), pc, bits, fault))
            return "bits " + std::to_string(bits);
        return std::string{name(fault.code)} + ' ' + std::to_string(fault.address);
    }
    static std::string out_of_bound(std::uint64_t address)
    {
        return "mem_out_of_bound " + std::to_string(address);
    }
    static std::string not_executable(std::uint64_t page)
    {
        return "mem_write_on_executable_page " + std::to_string(page);
    }

    static code::CodeConfig config(bool fusion = true)
    {
        return {.isa = {.version = Version::v2, .b = true, .a = true},
                .fusion = fusion,
                .cost_model = CostModel::standard()};
    }
    CodeImage image(bool fusion = true)
    {
        return CodeImage{config(fusion), code::executable_pages(space())};
    }
    /// The operations of the block at @p pc; none when there is no instruction.
    std::vector<isa::Operation> build(CodeImage& image, std::uint64_t pc)
    {
        const Block* block = image.build(pc, space(), m_fault);
        if (block == nullptr)
            return {};
        return {block->operations().begin(), block->operations().end()};
    }

    memory::Mapping m_mapping = *memory::Mapping::create(default_memory_size, Version::v2);
    memory::Fault m_fault;
};

TEST_F(CodeTest, fetch_reads_halfwords_and_words)
{
    put(base, 0xffff8082, 4);
    EXPECT_EQ(fetched(base), "bits " + std::to_string(0x8082));
    put(base, 0x12345013, 4);
    EXPECT_EQ(fetched(base), "bits " + std::to_string(0x12345013));
}

TEST_F(CodeTest, fetch_needs_an_executable_page_within_memory)
{
    EXPECT_EQ(fetched(0), not_executable(0));
    EXPECT_EQ(fetched(base - 2), not_executable(base_page - 1));
    EXPECT_EQ(fetched(space().size), out_of_bound(space().size));
    EXPECT_EQ(fetched(~std::uint64_t{0}), out_of_bound(~std::uint64_t{0}));
    EXPECT_EQ(fetched((std::uint64_t{1} << 32) + base),
              out_of_bound((std::uint64_t{1} << 32) + base));
}

TEST_F(CodeTest, fetch_at_a_page_end_needs_the_next_page_for_long_instructions_only)
{
    const std::uint64_t end = base + 2 * page_size;
    put(end - 2, c_nop, 2);
    EXPECT_EQ(fetched(end - 2), "bits 1");
    put(end - 2, 0x0013, 2);
    EXPECT_EQ(fetched(end - 2), not_executable(base_page + 2));
    const std::uint64_t middle = base + page_size;
    put(middle - 2, 0x00000013, 4);
    EXPECT_EQ(fetched(middle - 2), "bits " + std::to_string(0x13));
}

TEST_F(CodeTest, fetch_at_the_end_of_memory)
{
    map(space().size - page_size, page_size);
    put(space().size - 2, c_nop, 2);
    EXPECT_EQ(fetched(space().size - 2), "bits 1");
    put(space().size - 2, 0x0013, 2);
    EXPECT_EQ(fetched(space().size - 2), out_of_bound(space().size));
    EXPECT_EQ(fetched(space().size - 3), out_of_bound(space().size + 1));
    EXPECT_EQ(fetched(space().size - 1), out_of_bound(space().size + 1));
}

TEST_F(CodeTest, fetch_at_odd_addresses_reads_odd_bytes)
{
    put(base + 1, c_nop, 2);
    EXPECT_EQ(fetched(base + 1), "bits 1");
    // Three bytes before a page end one read of four bytes is made, whatever is found.
    const std::uint64_t end = base + 2 * page_size;
    put(end - 3, c_nop, 2);
    EXPECT_EQ(fetched(end - 3), not_executable(base_page + 2));
    EXPECT_EQ(fetched(end - 1), not_executable(base_page + 2));
}

TEST_F(CodeTest, blocks_end_at_control_transfers)
{
    using Emit = void (*)(Assembler&);
    for (const Emit transfer :
         {Emit{[](Assembler& a) { a.jal(zero, 8); }}, Emit{[](Assembler& a) { a.ret(); }},
          Emit{[](Assembler& a) { a.beq(a0, a1, 8); }}, Emit{[](Assembler& a) { a.ecall(); }},
          Emit{[](Assembler& a) { a.ebreak(); }}})
    {
        Assembler a{base};
        a.addi(a0, a0, 1);
        a.addi(a0, a0, 2);
        transfer(a);
        a.addi(a0, a0, 3);
        put(a);
        CodeImage fresh = image();
        EXPECT_EQ(build(fresh, base).size(), 3U);
    }
}

TEST_F(CodeTest, blocks_end_before_an_undecodable_instruction)
{
    Assembler a{base};
    a.addi(a0, a0, 1);
    a.word(0xffffffff);
    put(a);
    CodeImage code = image();
    EXPECT_EQ(build(code, base).size(), 1U);
    EXPECT_TRUE(build(code, base + 4).empty());
    EXPECT_EQ(m_fault.code, ErrorCode::invalid_instruction);
    EXPECT_EQ(m_fault.address, base + 4);
}

TEST_F(CodeTest, blocks_end_with_their_page)
{
    for (std::uint64_t at = base; at < base + 2 * page_size; at += 2)
        put(at, c_nop, 2);
    CodeImage code = image();
    EXPECT_EQ(build(code, base + page_size - 6).size(), 3U);
    EXPECT_EQ(build(code, base).size(), code::max_block_operations);
    // The last operation may reach into the next page.
    put(base + page_size - 2, 0x00150513, 4);
    CodeImage again = image();
    EXPECT_EQ(build(again, base + page_size - 6).size(), 3U);
}

TEST_F(CodeTest, operations_are_priced_and_fused)
{
    Assembler a{base};
    a.lui(a0, 5);
    a.addiw(a0, a0, 1);
    a.mulhu(a1, a2, a3);
    a.mul(a4, a2, a3);
    a.ecall();
    put(a);
    CodeImage fused = image(true);
    CodeImage plain = image(false);
    const auto cost = [](const std::vector<isa::Operation>& operations) {
        return std::accumulate(operations.begin(), operations.end(), 0U,
                               [](unsigned sum, const auto& o) { return sum + o.cost; });
    };
    const auto fused_block = build(fused, base);
    ASSERT_EQ(fused_block.size(), 3U);
    EXPECT_EQ(fused_block[0].opcode, isa::Opcode::load_const_lui);
    EXPECT_EQ(fused_block[0].imm, 0x5001);
    EXPECT_EQ(fused_block[1].opcode, isa::Opcode::wide_mulu);
    EXPECT_EQ(cost(fused_block), 1 + 5 + 500U);
    const auto plain_block = build(plain, base);
    EXPECT_EQ(plain_block.size(), 5U);
    EXPECT_EQ(cost(plain_block), 1 + 1 + 5 + 5 + 500U);
    // Entered in the middle of a sequence, the tail stands alone.
    EXPECT_EQ(build(fused, base + 4).front().opcode, isa::Opcode::addiw);
    EXPECT_EQ(build(fused, base + 12).front().opcode, isa::Opcode::mul);
}

TEST_F(CodeTest, fusion_crosses_into_the_next_executable_page)
{
    Assembler a{base + page_size - 4};
    a.lui(a0, 5);
    a.addiw(a0, a0, 1);
    put(a);
    CodeImage code = image();
    EXPECT_EQ(build(code, base + page_size - 4).front().opcode, isa::Opcode::load_const_lui);
    EXPECT_EQ(build(code, base + page_size).front().opcode, isa::Opcode::addiw);
}

TEST_F(CodeTest, refused_look_ahead_is_no_error)
{
    const std::uint64_t end = base + 2 * page_size;
    Assembler a{end - 4};
    a.lui(a0, 5);
    put(a);
    put(end, 0x0015051b, 4);  // addiw a0,a0,1 in a page that is not executable
    CodeImage code = image();
    const auto block = build(code, end - 4);
    ASSERT_EQ(block.size(), 1U);
    EXPECT_EQ(block[0].opcode, isa::Opcode::lui);
}

TEST_F(CodeTest, a_block_is_built_once)
{
    put(base, c_nop, 2);
    CodeImage code = image();
    EXPECT_EQ(code.find(base), nullptr);
    const Block* block = code.build(base, space(), m_fault);
    ASSERT_NE(block, nullptr);
    EXPECT_EQ(code.find(base), block);
    EXPECT_EQ(code.build(base, space(), m_fault), block);
    EXPECT_EQ(code.find(base + (std::uint64_t{1} << 32)), nullptr);
    EXPECT_EQ(code.find(base - page_size), nullptr);
}

TEST_F(CodeTest, threads_share_what_they_build)
{
    for (std::uint64_t at = base; at < base + page_size; at += 2)
        put(at, c_nop, 2);
    CodeImage code = image();
    std::vector<const Block*> found(4);
    {
        std::vector<std::jthread> threads;
        for (const Block*& slot : found)
            threads.emplace_back([&] {
                for (std::uint64_t at = base; at < base + page_size; at += 2) {
                    memory::Fault fault;
                    const Block* block = code.find(at);
                    slot = block != nullptr ? block : code.build(at, space(), fault);
                }
            });
    }
    for (const Block* block : found)
        EXPECT_EQ(block, found.front());
}

TEST_F(CodeTest, the_decoded_form_of_a_page_is_bounded)
{
    for (std::uint64_t at = base; at < base + 2 * page_size; at += 2)
        put(at, c_nop, 2);
    CodeImage code = image();
    std::size_t bytes = sizeof(CodePage);
    for (std::uint64_t at = base; at < base + page_size; at += 2) {
        const Block* block = code.build(at, space(), m_fault);
        ASSERT_NE(block, nullptr);
        bytes += Block::bytes(static_cast<std::uint32_t>(block->operations().size()));
    }
    EXPECT_LE(bytes, code::max_page_bytes);
    EXPECT_EQ(code.find(base + page_size - 200)->operations().size(), 1U);
    EXPECT_EQ(code.find(base)->operations().size(), code::max_block_operations);
}

TEST_F(CodeTest, views_decode_odd_addresses_each_time)
{
    put(base + 1, c_nop, 2);
    CodeView view{config()};
    ASSERT_TRUE(view.refresh(space()));
    const Block* block = view.find(base + 1, space(), m_fault);
    ASSERT_NE(block, nullptr);
    EXPECT_EQ(block->operations().size(), 1U);
    EXPECT_EQ(block->operations().front().opcode, isa::Opcode::addi);
    EXPECT_EQ(block->operations().front().cost, 1U);
    // The even neighbour is something else.
    put(base, 0x8082, 2);
    EXPECT_EQ(view.find(base, space(), m_fault)->operations().front().opcode, isa::Opcode::jalr);
}

TEST_F(CodeTest, views_report_why_there_is_no_code)
{
    CodeView view{config()};
    ASSERT_TRUE(view.refresh(space()));
    EXPECT_EQ(view.find(0, space(), m_fault), nullptr);
    EXPECT_EQ(m_fault.code, ErrorCode::mem_write_on_executable_page);
    EXPECT_EQ(view.find(space().size, space(), m_fault), nullptr);
    EXPECT_EQ(m_fault.code, ErrorCode::mem_out_of_bound);
    EXPECT_EQ(view.find(space().size + 1, space(), m_fault), nullptr);
    EXPECT_EQ(m_fault.code, ErrorCode::mem_out_of_bound);
}

TEST_F(CodeTest, what_a_page_end_refused_is_decoded_again_when_the_next_page_becomes_executable)
{
    const std::uint64_t end = base + 2 * page_size;
    Assembler a{end - 8};
    a.lui(a0, 5);  // fuses with the first instruction of the next page, once it is code
    a.lui(a0, 5);
    put(a);
    const auto shared = std::make_shared<CodeImage>(config(), code::executable_pages(space()));
    CodeView view{config()};
    view.share(shared, space());
    const auto last_operation = [&](CodeView& of) -> std::optional<isa::Operation> {
        const Block* block = of.find(end - 8, space(), m_fault);
        if (block == nullptr)
            return std::nullopt;
        return block->operations().back();
    };
    ASSERT_TRUE(last_operation(view));
    EXPECT_EQ(last_operation(view)->opcode, isa::Opcode::lui);

    Assembler next{end};
    next.addiw(a0, a0, 1);
    next.ecall();
    map(end, page_size, next.code());
    ASSERT_TRUE(view.refresh(space()));
    ASSERT_TRUE(last_operation(view));
    EXPECT_EQ(last_operation(view)->opcode, isa::Opcode::load_const_lui);
    EXPECT_NE(view.find(end, space(), m_fault), nullptr);
    // The shared image knows nothing of it, and pages further away are still shared.
    EXPECT_EQ(shared->find(end - 8)->operations().back().opcode, isa::Opcode::lui);
    EXPECT_FALSE(shared->covers(end / page_size));
    put(base, c_nop, 2);
    const Block* far_away = view.find(base, space(), m_fault);
    ASSERT_NE(far_away, nullptr);
    EXPECT_EQ(far_away, shared->find(base));
}

TEST_F(CodeTest, instructions_across_a_page_end_appear_with_the_next_page)
{
    const std::uint64_t end = base + 2 * page_size;
    put(end - 2, 0x00150513, 2);  // the first half of addi a0,a0,1
    CodeView view{config()};
    ASSERT_TRUE(view.refresh(space()));
    EXPECT_EQ(view.find(end - 2, space(), m_fault), nullptr);
    EXPECT_EQ(m_fault.code, ErrorCode::mem_write_on_executable_page);
    EXPECT_EQ(m_fault.address, end / page_size);
    map(end, page_size);
    put(end, 0x0015, 2);
    ASSERT_TRUE(view.refresh(space()));
    const Block* block = view.find(end - 2, space(), m_fault);
    ASSERT_NE(block, nullptr);
    EXPECT_EQ(block->operations().front().opcode, isa::Opcode::addi);
}
}  // namespace
