// SPDX-License-Identifier: MIT
// Formats: what the writer of a block is told, and blocks laid out behind untaken branches.

#include "unit/code_fixture.hpp"

#include <algorithm>
#include <memory>

namespace mopvm::test
{
namespace
{
using code::Block;
using code::BlockSource;
using code::CodeImage;

constexpr std::uint64_t base = code_base;

/// The body of a block in the format of these tests: what its writer was told.
struct Body
{
    std::uint32_t operations = 0;
    std::uint16_t first_imm = 0;
    bool next_follows = false;
    bool next_was_there = false;  ///< The image had the block behind already.

    static std::size_t write(std::byte* to,
                             const BlockSource& source,
                             const CodeImage& image) noexcept
    {
        std::uint64_t behind = source.head.pc;
        for (const isa::Operation& operation : source.operations)
            behind += operation.length;
        const Body body{.operations = static_cast<std::uint32_t>(source.operations.size()),
                        .first_imm = static_cast<std::uint16_t>(source.operations.front().imm),
                        .next_follows = source.next_follows,
                        .next_was_there = image.find(behind) != nullptr};
        std::memcpy(to, &body, sizeof(body));
        return sizeof(body);
    }
    static Body of(const Block& block)
    {
        Body body;
        std::memcpy(&body, block.body(), sizeof(body));
        return body;
    }
};
static_assert(sizeof(Body) == 8);

constexpr code::BlockFormat following{.follows_branches = true, .write_body = Body::write};
constexpr code::BlockFormat separate{.follows_branches = false, .write_body = Body::write};

/// As large as a format may be.
constexpr code::BlockFormat largest{
    .follows_branches = true,
    .write_body = [](std::byte* to, const BlockSource& source, const CodeImage&) noexcept {
        const std::size_t size =
            source.operations.size() * code::max_operation_bytes + code::max_body_overhead;
        std::fill_n(to, size, std::byte{0xa5});
        return size;
    }};

class CodeFormat : public CodeTest
{
protected:
    CodeImage image_of(const code::BlockFormat& format)
    {
        return CodeImage{config(true, format), code::executable_pages(space())};
    }
    /// Puts @p count branches of four bytes from @p address on, none of which is ever taken.
    void put_branches(std::uint64_t address, std::uint64_t count)
    {
        Assembler a{address};
        for (std::uint64_t i = 0; i < count; ++i)
            a.bne(zero, zero, 4);
        put(a);
    }
    const Block& built(CodeImage& image, std::uint64_t pc)
    {
        const Block* block = image.build(pc, space(), m_fault);
        EXPECT_NE(block, nullptr);
        static constexpr Block none{};
        return block != nullptr ? *block : none;
    }
    /// The block whose head is directly behind the body of @p block.
    static const Block* directly_behind(const Block& block)
    {
        return reinterpret_cast<const Block*>(block.body() + sizeof(Body));
    }
};

TEST_F(CodeFormat, belongs_to_the_configuration_of_code)
{
    const Config any;
    EXPECT_EQ(code::code_config(any), code::code_config(any, code::operation_format));
    EXPECT_NE(code::code_config(any), code::code_config(any, following));
}

TEST_F(CodeFormat, sees_all_operations_of_a_block)
{
    Assembler a{base};
    a.addi(a0, a0, 77);
    a.addi(a0, a0, 1);
    a.ecall();
    put(a);
    CodeImage code = image_of(separate);
    const Block& block = built(code, base);
    EXPECT_EQ(block.operations, 3);
    EXPECT_EQ(Body::of(block).operations, 3U);
    EXPECT_EQ(Body::of(block).first_imm, 77);
    EXPECT_FALSE(Body::of(block).next_follows);
}

TEST_F(CodeFormat, may_ask_the_image_for_blocks_that_are_there)
{
    put_nops();
    CodeImage code = image_of(separate);
    EXPECT_FALSE(Body::of(built(code, base + 8)).next_was_there);
    EXPECT_TRUE(Body::of(built(code, base)).next_was_there);
}

TEST_F(CodeFormat, has_the_block_behind_an_untaken_branch_directly_behind)
{
    Assembler a{base};
    a.addi(a0, a0, 1);
    a.beq(a0, a1, 64);
    a.addi(a0, a0, 2);
    a.addi(a0, a0, 3);
    a.ecall();
    put(a);
    CodeImage code = image_of(following);
    const Block& first = built(code, base);
    EXPECT_EQ(first.operations, 2);
    EXPECT_TRUE(Body::of(first).next_follows);
    const Block* second = code.find(base + 8);
    ASSERT_NE(second, nullptr);
    EXPECT_EQ(second, directly_behind(first));
    EXPECT_EQ(second->pc, base + 8);
    EXPECT_EQ(second->operations, 3);
    EXPECT_EQ(Body::of(*second).first_imm, 2);
    // Behind a system call nothing follows.
    EXPECT_FALSE(Body::of(*second).next_follows);
    EXPECT_EQ(code.find(base + 20), nullptr);
}

TEST_F(CodeFormat, decides_whether_branches_are_followed)
{
    put_branches(base, 4);
    CodeImage code = image_of(separate);
    EXPECT_FALSE(Body::of(built(code, base)).next_follows);
    EXPECT_EQ(code.find(base + 4), nullptr);
}

TEST_F(CodeFormat, follows_no_jump)
{
    using Emit = void (*)(Assembler&);
    for (const Emit transfer :
         {Emit{[](Assembler& a) { a.jal(zero, 8); }}, Emit{[](Assembler& a) { a.jal(ra, 8); }},
          Emit{[](Assembler& a) { a.ret(); }}, Emit{[](Assembler& a) { a.ebreak(); }}})
    {
        Assembler a{base};
        transfer(a);
        a.addi(a0, a0, 1);
        put(a);
        CodeImage code = image_of(following);
        EXPECT_FALSE(Body::of(built(code, base)).next_follows);
        EXPECT_EQ(code.find(base + 4), nullptr);
    }
}

TEST_F(CodeFormat, follows_into_nothing_that_is_there_already)
{
    put_branches(base, 4);
    CodeImage code = image_of(following);
    const Block& there = built(code, base + 8);
    const Block& first = built(code, base);
    EXPECT_TRUE(Body::of(first).next_follows);
    ASSERT_NE(code.find(base + 4), nullptr);
    EXPECT_FALSE(Body::of(*code.find(base + 4)).next_follows);
    EXPECT_EQ(code.find(base + 8), &there);
}

TEST_F(CodeFormat, follows_no_branch_into_another_page)
{
    put_branches(base + page_size - 8, 3);
    CodeImage code = image_of(following);
    EXPECT_TRUE(Body::of(built(code, base + page_size - 8)).next_follows);
    ASSERT_NE(code.find(base + page_size - 4), nullptr);
    EXPECT_FALSE(Body::of(*code.find(base + page_size - 4)).next_follows);
    EXPECT_EQ(code.find(base + page_size), nullptr);
}

TEST_F(CodeFormat, follows_no_branch_into_what_is_no_instruction)
{
    put_branches(base, 2);
    put(base + 8, 0xffffffff, 4);
    CodeImage code = image_of(following);
    EXPECT_TRUE(Body::of(built(code, base)).next_follows);
    ASSERT_NE(code.find(base + 4), nullptr);
    EXPECT_FALSE(Body::of(*code.find(base + 4)).next_follows);
    EXPECT_EQ(code.find(base + 8), nullptr);
}

TEST_F(CodeFormat, follows_no_branch_into_a_provisional_block)
{
    const std::uint64_t end = base + 2 * page_size;
    Assembler a{end - 8};
    a.bne(zero, zero, 4);
    a.lui(a0, 5);
    put(a);
    CodeImage code = image_of(following);
    const Block& branch = built(code, end - 8);
    EXPECT_FALSE(branch.provisional);
    EXPECT_FALSE(Body::of(branch).next_follows) << "nothing but a look-up may lead there";
}

TEST_F(CodeFormat, follows_so_many_branches_at_once)
{
    put_branches(base, 100);
    CodeImage code = image_of(following);
    static_cast<void>(built(code, base));
    std::uint64_t blocks = 0;
    while (code.find(base + 4 * blocks) != nullptr)
        ++blocks;
    EXPECT_EQ(blocks, code::max_build_blocks);
    EXPECT_TRUE(Body::of(*code.find(base + 4 * (blocks - 2))).next_follows);
    EXPECT_FALSE(Body::of(*code.find(base + 4 * (blocks - 1))).next_follows);
}

TEST_F(CodeFormat, decodes_so_many_operations_at_once)
{
    put_nops();
    constexpr std::uint64_t each = 50;  // operations of a block
    constexpr std::uint64_t bytes = 2 * (each - 1) + 4;
    for (std::uint64_t i = 0; i < 4; ++i)
        put_branches(base + (i + 1) * bytes - 4, 1);
    CodeImage code = image_of(following);
    static_cast<void>(built(code, base));
    std::uint64_t operations = 0;
    for (std::uint64_t i = 0; code.find(base + i * bytes) != nullptr; ++i)
        operations += code.find(base + i * bytes)->operations;
    EXPECT_EQ(operations, code::max_build_operations);
    // The last one, which had no room for its branch, is an ordinary block.
    EXPECT_EQ(code.find(base + 2 * bytes)->operations, code::max_build_operations - 2 * each);
    EXPECT_FALSE(Body::of(*code.find(base + 2 * bytes)).next_follows);
}

TEST_F(CodeFormat, follows_no_branch_in_a_full_page)
{
    put_nops();
    CodeImage code = image_of(following);
    for (std::uint64_t at = base; at < base + page_size / 2; at += 2)
        static_cast<void>(built(code, at));
    put_branches(base + page_size - 16, 4);
    const Block& block = built(code, base + page_size - 16);
    EXPECT_EQ(block.operations, 1);
    EXPECT_FALSE(Body::of(block).next_follows);
    EXPECT_EQ(code.find(base + page_size - 12), nullptr);
}

TEST_F(CodeFormat, cannot_outgrow_the_bound_of_a_page)
{
    // Of all orders the descending one has the most blocks, the ascending one the most operations.
    std::vector<std::uint64_t> ascending;
    for (std::uint64_t at = base; at < base + page_size; at += 2)
        ascending.push_back(at);
    const std::vector<std::uint64_t> descending{ascending.rbegin(), ascending.rend()};
    const auto put_code = [&](bool branches) {
        put_nops();
        for (std::uint64_t at = base; branches && at < base + page_size; at += 2)
            put(at, 0xc101, 2);  // c.beqz
    };
    for (const bool branches : {false, true}) {
        put_code(branches);
        for (const auto& order : {ascending, descending}) {
            CodeImage code = image_of(largest);
            for (const std::uint64_t at : order)
                static_cast<void>(built(code, at));
            EXPECT_LE(code.decoded_bytes(), code::max_page_bytes);
        }
    }
}
}  // namespace
}  // namespace mopvm::test
