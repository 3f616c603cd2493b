// SPDX-License-Identifier: MIT
// What a machine sees of shared and own code.

#include "unit/code_fixture.hpp"

#include <memory>
#include <optional>

namespace mopvm::test
{
namespace
{
using code::Block;
using code::CodeImage;
using code::CodeView;
using code::TargetCache;

constexpr std::uint64_t base = code_base;

TEST_F(CodeTest, views_decode_odd_addresses_each_time)
{
    put(base + 1, c_nop, 2);
    CodeView view{config()};
    ASSERT_TRUE(view.refresh(space()));
    const isa::Operation* operation = view.operation_at(base + 1, space(), m_fault);
    ASSERT_NE(operation, nullptr);
    EXPECT_EQ(operation->opcode, isa::Opcode::addi);
    EXPECT_EQ(operation->rd, zero);
    EXPECT_EQ(operation->cost, 1U);
    // The even neighbour is something else.
    put(base, 0x8082, 2);
    EXPECT_EQ(code::operations(*view.find(base, space(), m_fault)).front().opcode,
              isa::Opcode::jalr);
    // Its second byte is now the first of an addi4spn.
    EXPECT_EQ(view.operation_at(base + 1, space(), m_fault)->rd, s0);
}

TEST_F(CodeTest, views_give_single_operations_without_building_blocks)
{
    Assembler a{base};
    a.lui(a0, 5);
    a.addiw(a0, a0, 1);
    a.word(0xffffffff);
    put(a);
    CodeView view{config()};
    ASSERT_TRUE(view.refresh(space()));
    const isa::Operation* operation = view.operation_at(base, space(), m_fault);
    ASSERT_NE(operation, nullptr);
    EXPECT_EQ(*operation, code::operations(*view.find(base, space(), m_fault)).front());
    EXPECT_EQ(operation->opcode, isa::Opcode::load_const_lui);
    const std::size_t decoded = view.decoded_bytes();
    EXPECT_EQ(view.operation_at(base + 4, space(), m_fault)->opcode, isa::Opcode::addiw);
    EXPECT_EQ(view.decoded_bytes(), decoded);

    EXPECT_EQ(view.operation_at(base + 8, space(), m_fault), nullptr);
    EXPECT_EQ(m_fault.code, ErrorCode::invalid_instruction);
    EXPECT_EQ(m_fault.address, base + 8);
    EXPECT_EQ(view.operation_at(base - 1, space(), m_fault), nullptr);
    EXPECT_EQ(m_fault.code, ErrorCode::mem_write_on_executable_page);
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
        return code::operations(*block).back();
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
    EXPECT_EQ(code::operations(*shared->find(end - 8)).back().opcode, isa::Opcode::lui);
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
    EXPECT_EQ(code::operations(*block).front().opcode, isa::Opcode::addi);
}
TEST_F(CodeTest, views_own_what_no_program_shares_with_them)
{
    put_nops();
    CodeView lonely{config()};
    ASSERT_TRUE(lonely.refresh(space()));
    EXPECT_TRUE(lonely.find(base, space(), m_fault)->own);

    CodeView sharing{config()};
    sharing.share(std::make_shared<CodeImage>(config(), code::executable_pages(space())), space());
    EXPECT_FALSE(sharing.find(base, space(), m_fault)->own);
    const std::uint64_t end = base + 2 * page_size;
    map(end, page_size);
    put(end, c_nop, 2);
    ASSERT_TRUE(sharing.refresh(space()));
    EXPECT_FALSE(sharing.find(base, space(), m_fault)->own);
    EXPECT_TRUE(sharing.find(end, space(), m_fault)->own);
    EXPECT_TRUE(sharing.find(end - 2, space(), m_fault)->own);
}

TEST_F(CodeTest, views_count_the_bytes_of_shared_and_own_code)
{
    put_nops();
    const auto shared = std::make_shared<CodeImage>(config(), code::executable_pages(space()));
    CodeView view{config()};
    EXPECT_EQ(view.decoded_bytes(), 0U);
    view.share(shared, space());
    ASSERT_NE(view.find(base, space(), m_fault), nullptr);
    EXPECT_EQ(view.decoded_bytes(), shared->decoded_bytes());
    const std::uint64_t end = base + 2 * page_size;
    map(end, page_size);
    put(end, c_nop, 2);
    ASSERT_TRUE(view.refresh(space()));
    ASSERT_NE(view.find(end, space(), m_fault), nullptr);
    EXPECT_GT(view.decoded_bytes(), shared->decoded_bytes());
    view.reset();
    EXPECT_EQ(view.decoded_bytes(), 0U);
}

/// Every word of every block, of shared and own code, whatever the words are: here addresses of
/// blocks.
TEST_F(CodeTest, views_know_which_block_holds_a_word)
{
    Assembler code{base};
    while (code.here() + 8 <= base + 2 * page_size)
        code.lui(a0, static_cast<std::uint32_t>(code.here() >> 12));
    put(code);
    CodeView view{config()};
    view.share(std::make_shared<CodeImage>(config(), code::executable_pages(space())), space());
    const std::uint64_t own = base + 3 * page_size;
    map(own, page_size, code.code());
    ASSERT_TRUE(view.refresh(space()));

    std::vector<const code::Block*> blocks;
    for (const std::uint64_t begin : {base, own}) {
        for (std::uint64_t at = begin; at < begin + page_size; at += 20)
            blocks.push_back(view.find(at, space(), m_fault));
    }
    for (const code::Block* block : blocks) {
        ASSERT_NE(block, nullptr);
        const auto* const body = reinterpret_cast<const std::uint64_t*>(block->body());
        const std::size_t words = code::operations(*block).size_bytes() / sizeof(*body);
        for (std::size_t i = 0; i < words; ++i)
            ASSERT_EQ(&view.holder(body + i), block);
    }
}

/// A view that has found a block, and knows it as the target of a computed jump.
class CodeTargets : public CodeTest
{
protected:
    CodeTargets()
    {
        put_nops();
        m_view.share(m_shared, space());
        remember();
    }
    void remember()
    {
        m_view.targets().at(base) = {.pc = base, .block = m_view.find(base, space(), m_fault)};
    }
    bool is_empty()
    {
        for (const TargetCache::Entry& entry : m_view.targets().entries) {
            if (entry.pc != TargetCache::no_target || entry.block != TargetCache::Entry{}.block)
                return false;
        }
        return true;
    }

    std::shared_ptr<CodeImage> m_shared =
        std::make_shared<CodeImage>(config(), code::executable_pages(space()));
    CodeView m_view{config()};
};

TEST_F(CodeTargets, are_found_by_their_address)
{
    TargetCache& targets = m_view.targets();
    EXPECT_EQ(targets.at(base).pc, base);
    EXPECT_EQ(targets.at(base).block, m_shared->find(base));
    // One entry for each halfword of a kilobyte, and what lies that far apart shares one.
    EXPECT_NE(&targets.at(base), &targets.at(base + 2));
    EXPECT_EQ(&targets.at(base), &targets.at(base + 2 * TargetCache::size));
    EXPECT_EQ(TargetCache::no_target % 2, 1U);
}

TEST_F(CodeTargets, outlast_a_refresh_that_sees_nothing_new)
{
    ASSERT_TRUE(m_view.refresh(space()));
    EXPECT_EQ(m_view.targets().at(base).pc, base);
}

TEST_F(CodeTargets, are_forgotten_when_pages_become_executable)
{
    map(base + 2 * page_size, page_size);
    ASSERT_TRUE(m_view.refresh(space()));
    EXPECT_TRUE(is_empty());
}

TEST_F(CodeTargets, are_forgotten_with_other_shared_code)
{
    m_view.share(std::make_shared<CodeImage>(config(), code::executable_pages(space())), space());
    EXPECT_TRUE(is_empty());
}

TEST_F(CodeTargets, are_forgotten_by_a_reset)
{
    m_view.reset();
    EXPECT_TRUE(is_empty());
}
}  // namespace
}  // namespace mopvm::test
