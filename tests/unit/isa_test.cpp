// SPDX-License-Identifier: MIT
// The lists of encodings: what they promise about themselves, and how fields are read and written.
#include "isa/compressed.hpp"
#include "isa/encoding.hpp"
#include "isa/fields.hpp"
#include "isa/formats.hpp"
#include "isa/opcode.hpp"
#include "isa/spelling.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <functional>
#include <map>
#include <random>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace mopvm::isa
{
namespace
{
struct WordRow
{
    std::string_view id;
    Opcode opcode;
    Format format;
    std::string_view pattern;
    Encoding<std::uint32_t> encoding;
};

constexpr auto word_rows = std::to_array<WordRow>({
#define MOPVM_INSTRUCTION(id, mnemonic, format, pattern, extension, cost, flow, versions) \
    {#id, Opcode::id, Format::format, pattern, parse_encoding<std::uint32_t>(pattern)},
#include "isa/opcodes.inc"
});

TEST(Encoding, TakesFixedBitsFromThePattern)
{
    constexpr auto encoding = parse_encoding<std::uint16_t>("100 i 00 ddd iiiii 01");
    EXPECT_EQ(encoding.mask, 0b1110'1100'0000'0011);
    EXPECT_EQ(encoding.match, 0b1000'0000'0000'0001);
    EXPECT_TRUE(encoding.accepts(0b1001'0011'1111'1101));
    EXPECT_FALSE(encoding.accepts(0b1001'0111'1111'1101));
}

TEST(RegisterField, IsFoundByItsLetter)
{
    constexpr std::string_view wide = "0000000 ttttt sssss 000 ddddd 0110011";
    EXPECT_EQ(register_field(wide, 'd').extract(21u << 7), 21);
    EXPECT_EQ(register_field(wide, 's').extract(21u << 15), 21);
    EXPECT_EQ(register_field(wide, 't').extract(21u << 20), 21);
    EXPECT_EQ(register_field(wide, 'd').extract(~(31u << 7)), 0);
}

TEST(RegisterField, OfThreeBitsStandsForX8ToX15)
{
    constexpr std::string_view narrow = "010 iii sss ii ddd 00";
    EXPECT_EQ(register_field(narrow, 'd').extract(0), 8);
    EXPECT_EQ(register_field(narrow, 'd').extract(7u << 2), 15);
    EXPECT_EQ(register_field(narrow, 's').extract(5u << 7), 13);
}

TEST(RegisterField, IsX0WithoutItsLetter)
{
    EXPECT_EQ(register_field("100 0 sssss 00000 10", 'd').extract(0xffff), 0);
}

TEST(ImmediateMap, MovesRangesAndExtendsTheSign)
{
    constexpr ImmediateMap plain{"12=5 6:2=4:0"};
    EXPECT_EQ(plain.extract(1u << 12), 32);
    EXPECT_EQ(plain.extract(31u << 2), 31);
    EXPECT_EQ(plain.source_bits(), 1u << 12 | 31u << 2);
    constexpr ImmediateMap extended{"signed 12=5 6:2=4:0"};
    EXPECT_EQ(extended.extract(1u << 12), -32);
    EXPECT_EQ(extended.extract(31u << 2), 31);
}

using Reference = std::function<std::int64_t(std::uint32_t)>;

/// Bit @p from of @p bits, at bit @p to.
std::int64_t move_bit(std::uint32_t bits, unsigned from, unsigned to)
{
    return static_cast<std::int64_t>(bits >> from & 1) << to;
}

/// @p sources are the bits of an encoding that hold bits 0, 1, … of its immediate; -1 where the
/// immediate has none. With @p is_signed the last counts negative.
Reference gather(std::vector<int> sources, bool is_signed)
{
    return [=](std::uint32_t bits) {
        std::int64_t value = 0;
        for (unsigned to = 0; to < sources.size(); ++to) {
            if (sources[to] < 0)
                continue;
            const auto bit = move_bit(bits, static_cast<unsigned>(sources[to]), to);
            value += is_signed && to + 1 == sources.size() ? -bit : bit;
        }
        return value;
    };
}

/// Each bit alone, none, all, and seeded random bits.
void expect_equal_maps(const ImmediateMap& map, const Reference& reference, unsigned width)
{
    std::vector<std::uint32_t> samples{0, ~std::uint32_t{0} >> (32 - width)};
    for (unsigned bit = 0; bit < width; ++bit)
        samples.push_back(std::uint32_t{1} << bit);
    std::mt19937 random{width};
    for (int i = 0; i < 1000; ++i)
        samples.push_back(static_cast<std::uint32_t>(random()) >> (32 - width));
    for (const std::uint32_t bits : samples)
        EXPECT_EQ(map.extract(bits), reference(bits)) << std::hex << bits;
}

TEST(ImmediateMap, OfEachFormatAgreesWithTheManual)
{
    const Reference none = [](std::uint32_t) { return 0; };
    const auto signed_12 = [](std::uint32_t bits) {
        return std::int64_t{static_cast<std::int32_t>(bits) >> 20};
    };
    const std::map<Format, Reference> references{
        {Format::none, none},
        {Format::fence, signed_12},
        {Format::upper,
         [](std::uint32_t bits) {
             return std::int64_t{static_cast<std::int32_t>(bits & ~0xfffu)};
         }},
        {Format::jump, gather({-1, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30,
                               20, 12, 13, 14, 15, 16, 17, 18, 19, 31},
                              true)},
        {Format::indirect, signed_12},
        {Format::branch, gather({-1, 8, 9, 10, 11, 25, 26, 27, 28, 29, 30, 7, 31}, true)},
        {Format::load, signed_12},
        {Format::store, gather({7, 8, 9, 10, 11, 25, 26, 27, 28, 29, 30, 31}, true)},
        {Format::immediate, signed_12},
        {Format::shift6, [](std::uint32_t bits) { return bits >> 20 & 63; }},
        {Format::shift5, [](std::uint32_t bits) { return bits >> 20 & 31; }},
        {Format::reg, none},
        {Format::unary, none},
        {Format::reserve, none},
        {Format::atomic, none},
        {Format::fused, none},
    };
    ASSERT_EQ(references.size(), static_cast<std::size_t>(Format::fused) + 1);
    for (const auto& [format, reference] : references) {
        SCOPED_TRACE(static_cast<int>(format));
        expect_equal_maps(traits(format).immediate, reference, 32);
    }
}

TEST(ImmediateMap, OfEachCompressedInstructionAgreesWithTheManual)
{
    const Reference six_signed = gather({2, 3, 4, 5, 6, 12}, true);
    const Reference six = gather({2, 3, 4, 5, 6, 12}, false);
    const Reference word = gather({-1, -1, 6, 10, 11, 12, 5}, false);
    const Reference doubleword = gather({-1, -1, -1, 10, 11, 12, 5, 6}, false);
    const Reference branch = gather({-1, 3, 4, 10, 11, 2, 5, 6, 12}, true);
    const std::map<std::string_view, Reference> references{
        {"c.addi4spn", gather({-1, -1, 6, 5, 11, 12, 7, 8, 9, 10}, false)},
        {"c.lw", word},
        {"c.ld", doubleword},
        {"c.sw", word},
        {"c.sd", doubleword},
        {"c.addi", six_signed},
        {"c.nop", six_signed},
        {"c.addiw", six_signed},
        {"c.li", six_signed},
        {"c.addi16sp", gather({-1, -1, -1, -1, 6, 2, 5, 3, 4, 12}, true)},
        {"c.lui", [=](std::uint32_t bits) { return six_signed(bits) * 4096; }},
        {"c.srli", six},
        {"c.srai", six},
        {"c.andi", six_signed},
        {"c.j", gather({-1, 3, 4, 5, 11, 2, 7, 6, 9, 10, 8, 12}, true)},
        {"c.beqz", branch},
        {"c.bnez", branch},
        {"c.slli", six},
        {"c.lwsp", gather({-1, -1, 4, 5, 6, 12, 2, 3}, false)},
        {"c.ldsp", gather({-1, -1, -1, 5, 6, 12, 2, 3, 4}, false)},
        {"c.swsp", gather({-1, -1, 9, 10, 11, 12, 7, 8}, false)},
        {"c.sdsp", gather({-1, -1, -1, 10, 11, 12, 7, 8, 9}, false)},
    };
    std::set<std::string_view> seen;
    for (const CompressedRow& row : compressed_rows) {
        SCOPED_TRACE(row.mnemonic);
        if (!row.pattern.contains('i')) {
            EXPECT_EQ(row.immediate.source_bits(), 0);
            continue;
        }
        ASSERT_TRUE(references.contains(row.mnemonic));
        expect_equal_maps(row.immediate, references.at(row.mnemonic), 16);
        seen.insert(row.mnemonic);
    }
    EXPECT_EQ(seen.size(), references.size());
}

TEST(CompressedRows, HaveAnAnswerForEachHalfwordAndNoRowInVain)
{
    std::set<const CompressedRow*> deciding;
    for (std::uint32_t bits = 0; bits < 0x10000; ++bits) {
        if ((bits & 3) == 3)
            continue;
        const auto halfword = static_cast<std::uint16_t>(bits);
        ASSERT_TRUE(std::ranges::any_of(
            compressed_rows,
            [&](const CompressedRow& row) { return row.encoding.accepts(halfword); }))
            << std::hex << bits;
        deciding.insert(&find_compressed(halfword));
    }
    EXPECT_EQ(deciding.size(), compressed_rows.size());
}

TEST(CompressedRows, ThatShareUndecidedHalfwordsStandMostSpecificFirst)
{
    const auto fixed = [](const CompressedRow& row) { return std::popcount(row.encoding.mask); };
    for (std::uint32_t bits = 0; bits < 0x10000; ++bits) {
        if ((bits & 3) == 3)
            continue;
        const auto halfword = static_cast<std::uint16_t>(bits);
        const CompressedRow& first = find_compressed(halfword);
        for (const CompressedRow& row : compressed_rows) {
            if (&row != &first && row.encoding.accepts(halfword)) {
                ASSERT_LT(fixed(row), fixed(first)) << std::hex << bits;
            }
        }
    }
}

TEST(Opcodes, OverlapOnlyWhereAVersionChoosesBetweenThem)
{
    std::vector<std::pair<std::string_view, std::string_view>> overlaps;
    for (auto x = word_rows.begin(); x != word_rows.end(); ++x) {
        for (auto y = x + 1; y != word_rows.end(); ++y) {
            const std::uint32_t both = x->encoding.mask & y->encoding.mask;
            if ((x->encoding.match & both) == (y->encoding.match & both))
                overlaps.emplace_back(x->id, y->id);
        }
    }
    using Overlaps = decltype(overlaps);
    EXPECT_EQ(overlaps, (Overlaps{{"jalr", "jalr_v0"}}));
    EXPECT_EQ(traits(Opcode::jalr).versions, Versions::from_1);
    EXPECT_EQ(traits(Opcode::jalr_v0).versions, Versions::only_0);
}

TEST(Opcodes, AreNamedAfterTheirMnemonics)
{
    for (const WordRow& row : word_rows) {
        std::string id{row.id};
        if (row.opcode == Opcode::jalr_v0)
            id = "jalr";
        if (id.ends_with('_'))
            id.pop_back();
        std::ranges::replace(id, '_', '.');
        EXPECT_EQ(traits(row.opcode).mnemonic, id);
    }
}

TEST(Opcodes, HaveTheRegistersOfTheirFormats)
{
    const std::map<Format, std::string_view> letters{
        {Format::none, ""},     {Format::fence, ""},      {Format::upper, "d"},
        {Format::jump, "d"},    {Format::indirect, "ds"}, {Format::branch, "st"},
        {Format::load, "ds"},   {Format::store, "st"},    {Format::immediate, "ds"},
        {Format::shift6, "ds"}, {Format::shift5, "ds"},   {Format::reg, "dst"},
        {Format::unary, "ds"},  {Format::reserve, "ds"},  {Format::atomic, "dst"},
    };
    for (const WordRow& row : word_rows) {
        SCOPED_TRACE(row.id);
        for (const char letter : std::string_view{"dst"})
            EXPECT_EQ(row.pattern.contains(letter), letters.at(row.format).contains(letter));
        EXPECT_EQ(letter_bits(row.pattern, "ih"), traits(row.format).immediate.source_bits());
    }
}

TEST(Opcodes, EndABlockExactlyWhereControlMayLeaveTheLine)
{
    std::set<std::string_view> ends;
    for (const WordRow& row : word_rows) {
        if (ends_block(row.opcode))
            ends.insert(row.id);
    }
    EXPECT_EQ(ends, (std::set<std::string_view>{"jal", "jalr", "jalr_v0", "beq", "bne", "blt",
                                                "bge", "bltu", "bgeu", "ecall", "ebreak"}));
    EXPECT_TRUE(ends_block(Opcode::far_jump_rel));
    EXPECT_TRUE(ends_block(Opcode::far_jump_abs));
    EXPECT_FALSE(ends_block(Opcode::load_const_auipc));
}

TEST(Spelling, WritesHexadecimalWithLeadingZerosOnDemand)
{
    EXPECT_EQ(hex(0), "0");
    EXPECT_EQ(hex(0xabc, 4), "0abc");
    EXPECT_EQ(hex(~std::uint64_t{0}), "ffffffffffffffff");
}

TEST(Spelling, ShowsAnOperationWithoutAliases)
{
    EXPECT_EQ(spell({.opcode = Opcode::addi, .rd = 2, .rs1 = 2, .imm = -16}, 0), "addi sp,sp,-16");
    EXPECT_EQ(spell({.opcode = Opcode::lui, .rd = 10, .imm = -4096}, 0), "lui a0,0xfffff");
    EXPECT_EQ(spell({.opcode = Opcode::sd, .rs1 = 2, .rs2 = 1, .imm = 8}, 0), "sd ra,8(sp)");
    EXPECT_EQ(spell({.opcode = Opcode::bne, .rs1 = 10, .imm = -4}, 0x1000), "bne a0,zero,0xffc");
    EXPECT_EQ(spell({.opcode = Opcode::fence, .imm = 0x0f3}, 0), "fence iorw,rw");
    EXPECT_EQ(spell({.opcode = Opcode::ecall}, 0), "ecall");
}

TEST(Spelling, ShowsTheSlotsOfFusedOperations)
{
    EXPECT_EQ(spell({.opcode = Opcode::adc, .rd = 10, .rs1 = 11, .rs2 = 12}, 0), "adc a0,a1,a2");
    EXPECT_EQ(spell({.opcode = Opcode::wide_mul, .rd = 10, .rs1 = 11, .rs2 = 12, .r3 = 13}, 0),
              "wide_mul a0,a1,a2,a3");
    EXPECT_EQ(
        spell({.opcode = Opcode::add3a, .rd = 10, .rs1 = 11, .rs2 = 12, .r3 = 13, .r4 = 14}, 0),
        "add3a a0,a1,a2,a3,a4");
    EXPECT_EQ(spell({.opcode = Opcode::load_const_lui, .rd = 10, .imm = 74565}, 0),
              "load_const_lui a0,74565");
}

TEST(Spelling, ShowsWhereFarJumpsGo)
{
    EXPECT_EQ(spell({.opcode = Opcode::far_jump_rel, .rd = 1, .imm = 0x2001}, 0x10000),
              "far_jump_rel ra,0x12000");
    EXPECT_EQ(spell({.opcode = Opcode::far_jump_abs, .rd = 1, .imm = 0x2001}, 0x10000),
              "far_jump_abs ra,0x2000");
    EXPECT_EQ(target({.opcode = Opcode::jalr, .rs1 = 1}, 0x10000), std::nullopt);
    EXPECT_EQ(target({.opcode = Opcode::addi, .imm = 4}, 0x10000), std::nullopt);
}
}  // namespace
}  // namespace mopvm::isa
