// SPDX-License-Identifier: MIT
// The decoder against complete tables of what each version accepts.
#include "decoder/decoder.hpp"

#include "isa/encoding.hpp"
#include "isa/opcode.hpp"
#include "isa/registers.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>
#include <zlib.h>

namespace mopvm::decoder
{
namespace
{
using isa::Format;
using isa::Instruction;
using isa::Opcode;

constexpr std::array versions{Version::v0, Version::v1, Version::v2};

Isa imcab(Version version)
{
    return {.version = version, .b = true, .a = true};
}

/// The lines of a compressed file of the test data, cut at tabs, without the first line.
std::vector<std::vector<std::string>> read_table(const std::string& name)
{
    const std::string path = std::string{MOPVM_TEST_DATA} + "/" + name;
    const std::unique_ptr<gzFile_s, int (*)(gzFile)> file{gzopen(path.c_str(), "rb"), gzclose};
    std::vector<std::vector<std::string>> rows;
    std::array<char, 256> line{};
    while (file && gzgets(file.get(), line.data(), int{line.size()}) != nullptr) {
        std::string_view rest{line.data()};
        rest.remove_suffix(rest.ends_with('\n') ? 1 : 0);
        auto& row = rows.emplace_back();
        for (std::size_t tab = 0; (tab = rest.find('\t')) != std::string_view::npos;) {
            row.emplace_back(rest.substr(0, tab));
            rest.remove_prefix(tab + 1);
        }
        row.emplace_back(rest);
    }
    if (!rows.empty())
        rows.erase(rows.begin());
    return rows;
}

/// The mnemonic as the tables have it: no dots, an underscore in atomics.
std::string table_mnemonic(const isa::Traits& traits)
{
    std::string name{traits.mnemonic};
    if (traits.extension == isa::Extension::a)
        std::ranges::replace(name, '.', '_');
    else
        std::erase(name, '.');
    return name;
}

/// @p instruction in the notation of the tables. These name fields, not operands: a unary operation
/// shows the bits at rs2, which distinguish it, as a register.
std::string table_text(const Instruction& instruction, std::uint32_t bits)
{
    const isa::Traits& traits = isa::traits(instruction.opcode);
    const auto name = [](unsigned number) { return std::string{isa::register_names[number & 31]}; };
    const std::string rd = name(instruction.rd);
    const std::string rs1 = name(instruction.rs1);
    const std::string rs2 = name(instruction.rs2);
    const std::string imm = std::to_string(instruction.imm);
    const std::string head =
        std::to_string(instruction.length) + " " + table_mnemonic(traits) + " ";
    switch (traits.format) {
    case Format::none:
        return head + "zero,zero,zero";
    case Format::fence: {
        const auto sets = static_cast<std::uint32_t>(instruction.imm);
        return head + name(sets >> 8 & 15) + "," + name(sets >> 4 & 15) + "," + name(sets & 15);
    }
    case Format::upper:
    case Format::jump:
        return head + rd + "," + imm;
    case Format::branch:
        return head + rs1 + "," + rs2 + "," + imm;
    case Format::store:
        return head + rs2 + "," + imm + "(" + rs1 + ")";
    case Format::indirect:
    case Format::load:
    case Format::immediate:
    case Format::shift6:
    case Format::shift5:
        return head + rd + "," + imm + "(" + rs1 + ")";
    case Format::unary:
        return head + rd + "," + rs1 + "," + name(bits >> 20 & 31);
    case Format::reg:
    case Format::reserve:
    case Format::atomic:
        return head + rd + "," + rs1 + "," + rs2;
    case Format::fused:
        break;
    }
    return "a decoder does not fuse";
}

TEST(Decoder, AcceptsExactlyTheHalfwordsOfEachVersion)
{
    const auto rows = read_table("rvc_legality.tsv.gz");
    ASSERT_EQ(rows.size(), 3 * 16384);
    for (const auto& row : rows) {
        const auto bits = static_cast<std::uint32_t>(std::stoul(row.at(0), nullptr, 16));
        for (const Version version : versions) {
            SCOPED_TRACE(row[0] + " version " + std::to_string(static_cast<int>(version)));
            const bool legal = row.at(1 + static_cast<std::size_t>(version)) == "1";
            const Instruction instruction = decode(bits, {.version = version});
            ASSERT_EQ(instruction.opcode != Opcode::invalid, legal);
            if (legal) {
                ASSERT_EQ(table_text(instruction, bits), row.at(4));
            } else {
                ASSERT_EQ(instruction, Instruction{});
            }
            ASSERT_EQ(instruction, decode(bits, imcab(version)));
        }
    }
}

TEST(Decoder, AcceptsAsManyHalfwordsPerQuadrantAsTheSpecificationCounts)
{
    const auto count = [](Version version, std::uint32_t quadrant) {
        int accepted = 0;
        for (std::uint32_t bits = quadrant; bits < 0x10000; bits += 4)
            accepted += decode(bits, {.version = version}).opcode != Opcode::invalid ? 1 : 0;
        return accepted;
    };
    EXPECT_EQ(count(Version::v0, 0), 10232);
    EXPECT_EQ(count(Version::v0, 1), 15939);
    EXPECT_EQ(count(Version::v0, 2), 12002);
    for (const Version version : {Version::v1, Version::v2}) {
        EXPECT_EQ(count(version, 0), 10232);
        EXPECT_EQ(count(version, 1), 16160);
        EXPECT_EQ(count(version, 2), 12159);
    }
}

TEST(Decoder, AcceptsExactlyTheListedWordsOfEachInstructionSetAndVersion)
{
    const auto rows = read_table("words_legality.tsv.gz");
    ASSERT_EQ(rows.size(), 100000);
    constexpr std::array sets{Isa{}, Isa{.a = true}, Isa{.b = true}, Isa{.b = true, .a = true}};
    for (const auto& row : rows) {
        const auto bits = static_cast<std::uint32_t>(std::stoul(row.at(0), nullptr, 16));
        for (std::size_t column = 0; column < sets.size() * versions.size(); ++column) {
            Isa isa = sets[column / versions.size()];
            isa.version = versions[column % versions.size()];
            SCOPED_TRACE(row[0] + " column " + std::to_string(column));
            const bool legal = row.at(1).at(column) == '1';
            const Instruction instruction = decode(bits, isa);
            ASSERT_EQ(instruction.opcode != Opcode::invalid, legal);
            if (legal) {
                ASSERT_EQ(table_text(instruction, bits), row.at(2));
            } else {
                ASSERT_EQ(instruction, Instruction{});
            }
        }
    }
}

TEST(Decoder, FindsWhatASearchOfTheWholeListFinds)
{
    struct Row
    {
        isa::Encoding<std::uint32_t> encoding;
        Opcode opcode;
    };
    constexpr auto rows = std::to_array<Row>({
#define MOPVM_INSTRUCTION(id, mnemonic, format, pattern, extension, cost, flow, versions) \
    {isa::parse_encoding<std::uint32_t>(pattern), Opcode::id},
#include "isa/opcodes.inc"
    });

    constexpr unsigned seed = 20240917;
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937 random{seed};
    for (int i = 0; i < 300'000; ++i) {
        // Near an encoding: all of its fixed bits, then with a chance of two one of them flipped.
        const Row& near = rows[random() % rows.size()];
        auto bits = static_cast<std::uint32_t>(random());
        bits = (bits & ~near.encoding.mask) | near.encoding.match;
        if (random() % 2 == 0)
            bits ^= std::uint32_t{1} << random() % 32;
        bits |= 3;

        const auto found = std::ranges::find_if(rows, [&](const Row& row) {
            return row.encoding.accepts(bits) && row.opcode != Opcode::jalr_v0;
        });
        const Opcode expected = found == rows.end() ? Opcode::invalid : found->opcode;
        ASSERT_EQ(decode(bits, imcab(Version::v2)).opcode, expected) << std::hex << bits;
    }
}

TEST(Decoder, CallsJalrByItsVersion)
{
    for (const std::uint32_t bits :
         {0x0040'80e7u /* jalr ra,4(ra) */, 0x8082u /* c.jr ra */, 0x9082u /* c.jalr ra */})
    {
        EXPECT_EQ(decode(bits, {.version = Version::v0}).opcode, Opcode::jalr_v0);
        EXPECT_EQ(decode(bits, {.version = Version::v1}).opcode, Opcode::jalr);
        EXPECT_EQ(decode(bits, {.version = Version::v2}).opcode, Opcode::jalr);
    }
}

TEST(Decoder, DecodesHintsToANopOfLengthTwo)
{
    constexpr Instruction nop{.opcode = Opcode::addi, .length = 2};
    constexpr std::array<std::uint32_t, 9> since_version_1{0x0081, 0x0005, 0x4005, 0x6005, 0x0006,
                                                           0x0082, 0x802e, 0x902e, 0x0002};
    for (const std::uint32_t bits : since_version_1) {
        EXPECT_EQ(decode(bits, {.version = Version::v0}), Instruction{}) << std::hex << bits;
        EXPECT_EQ(decode(bits, {.version = Version::v1}), nop) << std::hex << bits;
    }
    for (const std::uint32_t bits : {0x0001u, 0x8001u, 0x8401u}) {
        for (const Version version : versions)
            EXPECT_EQ(decode(bits, {.version = version}), nop) << std::hex << bits;
    }
}

TEST(Decoder, AcceptsOnlyFencesWithoutRegisters)
{
    for (const std::uint32_t bits : {0x0000'000fu, 0x8330'000fu, 0x0100'000fu, 0x2330'000fu})
        EXPECT_EQ(decode(bits, {}).opcode, Opcode::fence) << std::hex << bits;
    for (const std::uint32_t bits : {0x0ff0'008fu, 0x0ff0'800fu, 0x0000'108fu, 0x0010'100fu})
        EXPECT_EQ(decode(bits, {}), Instruction{}) << std::hex << bits;
}

TEST(Decoder, IgnoresTheOrderingBitsOfAtomics)
{
    const Instruction plain = decode(0x00c5'a52f, imcab(Version::v2));
    EXPECT_EQ(plain.opcode, Opcode::amoadd_w);
    for (std::uint32_t ordering = 0; ordering < 4; ++ordering)
        EXPECT_EQ(decode(0x00c5'a52f | ordering << 25, imcab(Version::v2)), plain);
}

TEST(Decoder, LeavesFieldsThatAFormatDoesNotHaveAtZero)
{
    EXPECT_EQ(decode(0x6055'1513, imcab(Version::v2)),  // sext.h a0,a0: 5 stands at rs2
              (Instruction{.opcode = Opcode::sext_h, .rd = 10, .rs1 = 10, .length = 4}));
    EXPECT_EQ(decode(0x00b5'2223, {}),  // sw a1,4(a0): the immediate stands at rd
              (Instruction{.opcode = Opcode::sw, .rs1 = 10, .rs2 = 11, .length = 4, .imm = 4}));
    EXPECT_EQ(decode(0x8330'000f, {}),
              (Instruction{.opcode = Opcode::fence, .length = 4, .imm = -0x7cd}));
}
}  // namespace
}  // namespace mopvm::decoder
