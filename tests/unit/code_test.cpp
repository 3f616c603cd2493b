// SPDX-License-Identifier: MIT
// Fetching, building blocks, and images of them.

#include "unit/code_fixture.hpp"

#include "code/fetch.hpp"

#include <numeric>
#include <string>
#include <thread>

namespace mopvm::test
{
namespace
{
using code::Block;
using code::CodeImage;
using code::CodePage;

constexpr std::uint64_t base = code_base;
constexpr std::uint64_t base_page = base / page_size;

class CodeFetch : public CodeTest
{
protected:
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
};

TEST_F(CodeFetch, reads_halfwords_and_words)
{
    put(base, 0xffff8082, 4);
    EXPECT_EQ(fetched(base), "bits " + std::to_string(0x8082));
    put(base, 0x12345013, 4);
    EXPECT_EQ(fetched(base), "bits " + std::to_string(0x12345013));
}

TEST_F(CodeFetch, needs_an_executable_page_within_memory)
{
    EXPECT_EQ(fetched(0), not_executable(0));
    EXPECT_EQ(fetched(base - 2), not_executable(base_page - 1));
    EXPECT_EQ(fetched(space().size), out_of_bound(space().size));
    EXPECT_EQ(fetched(~std::uint64_t{0}), out_of_bound(~std::uint64_t{0}));
    EXPECT_EQ(fetched((std::uint64_t{1} << 32) + base),
              out_of_bound((std::uint64_t{1} << 32) + base));
}

TEST_F(CodeFetch, at_a_page_end_needs_the_next_page_for_long_instructions_only)
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

TEST_F(CodeFetch, at_the_end_of_memory)
{
    map(space().size - page_size, page_size);
    put(space().size - 2, c_nop, 2);
    EXPECT_EQ(fetched(space().size - 2), "bits 1");
    put(space().size - 2, 0x0013, 2);
    EXPECT_EQ(fetched(space().size - 2), out_of_bound(space().size));
    EXPECT_EQ(fetched(space().size - 3), out_of_bound(space().size + 1));
    EXPECT_EQ(fetched(space().size - 1), out_of_bound(space().size + 1));
}

TEST_F(CodeFetch, at_odd_addresses_reads_odd_bytes)
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
    put_nops();
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
    a.lui(ra, 5);
    a.jalr(ra, 0, ra);
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
    EXPECT_EQ(fused_block[2].opcode, isa::Opcode::far_jump_abs);
    // Their own prices: the far jump is dearer than what it begins with.
    EXPECT_EQ(cost(fused_block), 1 + 5 + 3U);
    const auto plain_block = build(plain, base);
    EXPECT_EQ(plain_block.size(), 6U);
    EXPECT_EQ(cost(plain_block), 1 + 1 + 5 + 5 + 1 + 3U);
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
    put_nops();
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
    put_nops();
    CodeImage code = image();
    EXPECT_EQ(code.decoded_bytes(), 0U);
    std::size_t bytes = sizeof(CodePage) + CodePage::line_count * sizeof(code::CodeLine);
    for (std::uint64_t at = base; at < base + page_size; at += 2) {
        const Block* block = code.build(at, space(), m_fault);
        ASSERT_NE(block, nullptr);
        bytes += sizeof(Block) + code::operations(*block).size_bytes();
    }
    EXPECT_GE(code.decoded_bytes(), bytes);
    EXPECT_LE(code.decoded_bytes(), code::max_page_bytes);
    EXPECT_EQ(code::operations(*code.find(base + page_size - 200)).size(), 1U);
    EXPECT_EQ(code::operations(*code.find(base)).size(), code::max_block_operations);
}

TEST_F(CodeTest, blocks_end_where_another_begins)
{
    put_nops();
    CodeImage code = image();
    ASSERT_EQ(build(code, base + 20).size(), code::max_block_operations);
    EXPECT_EQ(build(code, base).size(), 10U);
    EXPECT_EQ(code.find(base)->cost, 10U);
    // What begins there may still be entered at any other place.
    EXPECT_EQ(build(code, base + 22).size(), code::max_block_operations);
    EXPECT_EQ(build(code, base + 18).size(), 1U);
}

TEST_F(CodeTest, fused_operations_span_the_beginning_of_another_block)
{
    Assembler a{base};
    a.addi(a1, a1, 1);
    a.lui(a0, 5);
    a.addiw(a0, a0, 1);
    a.ecall();
    put(a);
    CodeImage code = image();
    ASSERT_EQ(build(code, base + 8).size(), 2U);
    const auto block = build(code, base);
    ASSERT_EQ(block.size(), 3U);
    EXPECT_EQ(block[1].opcode, isa::Opcode::load_const_lui);
}

TEST_F(CodeTest, heads_say_what_their_operations_cost_together)
{
    Assembler a{base};
    a.mulhu(a1, a2, a3);
    a.mul(a4, a2, a3);
    a.lui(a0, 5);
    a.ecall();
    put(a);
    CodeImage code = image();
    const auto operations = build(code, base);
    const Block& block = *code.find(base);
    EXPECT_EQ(block.pc, base);
    EXPECT_EQ(block.operations, operations.size());
    EXPECT_EQ(block.cost, 5 + 1 + 500U);
    EXPECT_EQ(Block::of_body(block.body()), &block);
}

TEST_F(CodeTest, blocks_are_provisional_when_a_page_end_refused_to_look_ahead)
{
    const std::uint64_t end = base + 2 * page_size;
    Assembler a{end - 12};
    a.addi(a1, a1, 1);
    a.addi(a1, a1, 1);
    a.lui(a0, 5);
    put(a);
    CodeImage code = image();
    ASSERT_EQ(build(code, end - 8).size(), 2U);
    EXPECT_TRUE(code.find(end - 8)->provisional);
    // One that ends in front of it is not.
    ASSERT_EQ(build(code, end - 12).size(), 1U);
    EXPECT_FALSE(code.find(end - 12)->provisional);

    map(end, page_size);
    CodeImage later = image();
    ASSERT_EQ(build(later, end - 8).size(), 2U);
    EXPECT_FALSE(later.find(end - 8)->provisional);
    // Without fusion nobody looks ahead.
    CodeImage plain = image(false);
    ASSERT_EQ(build(plain, end - 8).size(), 2U);
    EXPECT_FALSE(plain.find(end - 8)->provisional);
}

TEST_F(CodeTest, a_second_instruction_that_no_rule_goes_on_with_makes_nothing_provisional)
{
    // Longer rules begin with an add, but what they would look at beyond the page does not matter.
    const std::uint64_t end = base + 2 * page_size;
    Assembler a{end - 8};
    a.add(a1, a1, a2);
    a.addi(a3, a3, 1);
    put(a);
    CodeImage code = image();
    ASSERT_EQ(build(code, end - 8).size(), 2U);
    EXPECT_FALSE(code.find(end - 8)->provisional);
    // A sltu may begin one that goes on there.
    Assembler b{end - 8};
    b.add(a1, a1, a2);
    b.sltu(a2, a1, a2);
    put(b);
    CodeImage other = image();
    static_cast<void>(build(other, end - 8));
    EXPECT_TRUE(other.find(end - 8)->provisional);
}

TEST_F(CodeTest, undecodable_bytes_ahead_make_nothing_provisional)
{
    Assembler a{base};
    a.lui(a0, 5);
    a.word(0xffffffff);
    put(a);
    CodeImage code = image();
    ASSERT_EQ(build(code, base).size(), 1U);
    EXPECT_FALSE(code.find(base)->provisional);
}

TEST_F(CodeTest, blocks_tell_whether_one_machine_owns_them)
{
    put_nops();
    CodeImage shared = image();
    CodeImage own{config(), code::executable_pages(space()), CodeImage::Owner::machine};
    EXPECT_FALSE(shared.build(base, space(), m_fault)->own);
    EXPECT_TRUE(own.build(base, space(), m_fault)->own);
}

TEST(CodeLinks, lead_to_nothing_that_the_source_may_outlive_or_that_may_change)
{
    const Block shared{};
    const Block own{.own = true};
    const Block provisional{.provisional = true};
    const Block own_provisional{.provisional = true, .own = true};
    EXPECT_TRUE(Block::may_link(shared, shared));
    EXPECT_TRUE(Block::may_link(own, shared));
    EXPECT_TRUE(Block::may_link(own, own));
    EXPECT_FALSE(Block::may_link(shared, own));
    for (const Block& source : {shared, own, provisional, own_provisional}) {
        EXPECT_FALSE(Block::may_link(source, provisional));
        EXPECT_FALSE(Block::may_link(source, own_provisional));
    }
    // Leaving a provisional block is like leaving any other.
    EXPECT_TRUE(Block::may_link(provisional, shared));
    EXPECT_TRUE(Block::may_link(own_provisional, own));
}
}  // namespace
}  // namespace mopvm::test
