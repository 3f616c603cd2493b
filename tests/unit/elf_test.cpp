// SPDX-License-Identifier: MIT
// Program files: every check of headers and segments.

#include "elf/image.hpp"
#include "support/elf_builder.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <string>
#include <utility>
#include <vector>

namespace mopvm
{
namespace
{
using test::build;
using test::ElfFile;
using test::pattern;
using test::program_header_at;
using test::put;

namespace at = test::elf_at;
namespace flag = test::elf_flag;

using Bytes = std::vector<std::byte>;

constexpr std::uint64_t max_value = std::numeric_limits<std::uint64_t>::max();

/// Code, and data in the middle of a page.
ElfFile two_segments()
{
    return {
        .entry = 0x10100,
        .segments = {{.vaddr = 0x10000, .flags = flag::code, .bytes = pattern(300)},
                     {.vaddr = 0x12010, .flags = flag::data, .bytes = pattern(100), .memsz = 200}}};
}

template <typename T>
void expect_error(const Result<T>& result, const Error& expected)
{
    ASSERT_FALSE(result.has_value());
    EXPECT_EQ(result.error().code, expected.code);
    EXPECT_EQ(result.error().address, expected.address);
    EXPECT_EQ(result.error().kind, expected.kind);
}

/// The file is refused as unreadable, with a text that contains @p part.
void expect_unreadable(const Bytes& file, const std::string& part)
{
    const auto image = elf::parse(file);
    ASSERT_FALSE(image.has_value());
    EXPECT_EQ(image.error().code, ErrorCode::elf_parse_error);
    EXPECT_NE(image.error().text.find(part), std::string::npos) << image.error().text;
}

bool equal(const Segment& a, const Segment& b)
{
    return a.address == b.address && a.size == b.size && a.padding == b.padding &&
           a.file_offset == b.file_offset && a.file_size == b.file_size &&
           a.elf_flags == b.elf_flags;
}

// The ELF header.

TEST(ElfHeader, AValidFileGivesEntrySegmentsAndFacts)
{
    Bytes file = build(two_segments());
    put(file, at::flags, std::uint32_t{5});
    const auto image = elf::parse(file);
    ASSERT_TRUE(image.has_value());
    EXPECT_EQ(image->entry, 0x10100U);
    EXPECT_EQ(image->loaded_bytes, 400U);
    EXPECT_FALSE(image->big_endian);
    EXPECT_EQ(image->type, 2);
    EXPECT_EQ(image->machine, elf::machine_riscv);
    EXPECT_EQ(image->flags, 5U);
    EXPECT_EQ(image->declared_header_size, elf::program_header_size);
    EXPECT_EQ(image->program_headers, 2);
    ASSERT_EQ(image->segments.size(), 2U);
    const std::uint64_t data = program_header_at(2, 0);
    EXPECT_TRUE(equal(image->segments[0], {.address = 0x10000,
                                           .size = 0x1000,
                                           .padding = 0,
                                           .file_offset = data,
                                           .file_size = 300,
                                           .elf_flags = flag::code}));
    EXPECT_TRUE(equal(image->segments[1], {.address = 0x12000,
                                           .size = 0x1000,
                                           .padding = 0x10,
                                           .file_offset = data + 300,
                                           .file_size = 100,
                                           .elf_flags = flag::data}));
}

TEST(ElfHeader, BigEndianHeadersGiveTheSameSegments)
{
    ElfFile elf = two_segments();
    const Bytes little = build(elf);
    elf.big_endian = true;
    const Bytes big = build(elf);
    const auto expected = elf::parse(little);
    const auto image = elf::parse(big);
    ASSERT_TRUE(expected.has_value() && image.has_value());
    EXPECT_TRUE(image->big_endian);
    EXPECT_EQ(image->entry, expected->entry);
    EXPECT_EQ(image->machine, elf::machine_riscv);
    EXPECT_TRUE(std::ranges::equal(image->segments, expected->segments, equal));
}

TEST(ElfHeader, ShortIdentificationIsUnreadable)
{
    const Bytes file = build({});
    for (std::size_t length = 0; length < 16; ++length)
        expect_unreadable({file.begin(), file.begin() + static_cast<std::ptrdiff_t>(length)},
                          std::to_string(length) + " bytes");
}

TEST(ElfHeader, EveryByteOfTheMagicCounts)
{
    for (std::size_t i = 0; i < 4; ++i) {
        Bytes file = build({});
        put(file, i, std::uint8_t{0xff});
        expect_unreadable(file, "not an ELF file");
    }
}

TEST(ElfHeader, ClassIs32Or64Bits)
{
    for (const std::uint8_t value : std::initializer_list<std::uint8_t>{0, 3, 255}) {
        Bytes file = build(two_segments());
        put(file, at::class_, value);
        expect_unreadable(file, "class, is " + std::to_string(value));
    }
}

TEST(ElfHeader, ByteOrderIsLittleOrBig)
{
    for (const std::uint8_t value : std::initializer_list<std::uint8_t>{0, 3, 255}) {
        Bytes file = build(two_segments());
        put(file, at::data, value);
        expect_unreadable(file, "byte order, is " + std::to_string(value));
    }
}

TEST(ElfHeader, IdentificationIsCheckedInOrder)
{
    Bytes file = build({});
    file.resize(20);
    put(file, at::data, std::uint8_t{9});
    expect_unreadable(file, "byte order");
    put(file, at::class_, std::uint8_t{9});
    expect_unreadable(file, "class");
    put(file, at::magic, std::uint8_t{9});
    expect_unreadable(file, "not an ELF file");
}

TEST(ElfHeader, HeaderOf64BitsNeeds64Bytes)
{
    Bytes file = build({});
    ASSERT_EQ(file.size(), 64U);
    EXPECT_TRUE(elf::parse(file).has_value());
    file.pop_back();
    expect_unreadable(file, "needs 64");
}

TEST(ElfHeader, ThirtyTwoBitFilesAreRefusedOnceTheirHeaderIsThere)
{
    Bytes file = build(two_segments());
    put(file, at::class_, std::uint8_t{1});
    put(file, at::phnum, std::uint16_t{0xffff});
    expect_error(elf::parse(file), {.code = ErrorCode::elf_bits});
    file.resize(52);
    expect_error(elf::parse(file), {.code = ErrorCode::elf_bits});
    file.resize(51);
    expect_unreadable(file, "needs 52");
}

TEST(ElfHeader, WhatTheLoaderIgnoresIsReportedButAccepted)
{
    for (const std::uint16_t value : std::initializer_list<std::uint16_t>{0, 1, 55, 57, 0xffff}) {
        Bytes file = build(two_segments());
        put(file, at::phentsize, value);
        put(file, at::machine, value);
        put(file, at::type, value);
        put(file, at::ehsize, value);
        put(file, at::version, std::uint32_t{value});
        const auto image = elf::parse(file);
        ASSERT_TRUE(image.has_value());
        EXPECT_EQ(image->declared_header_size, value);
        EXPECT_EQ(image->machine, value);
        EXPECT_EQ(image->type, value);
        EXPECT_EQ(image->segments.size(), 2U);
    }
}

TEST(ElfHeader, EntryIsNotChecked)
{
    for (const std::uint64_t entry : {std::uint64_t{0}, std::uint64_t{0x10001}, max_value}) {
        ElfFile elf = two_segments();
        elf.entry = entry;
        EXPECT_EQ(elf::parse(build(elf)).value().entry, entry);
    }
}

// The program header table.

TEST(ElfProgramHeaders, NoneIsFineWhereverTheTableWouldBe)
{
    Bytes file = build({});
    put(file, at::phoff, max_value);
    const auto image = elf::parse(file);
    ASSERT_TRUE(image.has_value());
    EXPECT_TRUE(image->segments.empty());
}

TEST(ElfProgramHeaders, CountIsBoundedByTheFilesLength)
{
    Bytes file = build({});
    put(file, at::phoff, std::uint64_t{0});
    put(file, at::phnum, std::uint16_t{1});
    EXPECT_TRUE(elf::parse(file).has_value()) << "64 bytes hold one entry";
    put(file, at::phnum, std::uint16_t{2});
    expect_unreadable(file, "e_phnum is 2");
    put(file, at::phnum, std::uint16_t{0xffff});
    put(file, at::phoff, max_value);
    expect_unreadable(file, "e_phnum is 65535");
    file.resize(112);
    put(file, at::phoff, std::uint64_t{0});
    put(file, at::phnum, std::uint16_t{2});
    EXPECT_TRUE(elf::parse(file).has_value());
}

TEST(ElfProgramHeaders, TableMustBeInsideTheFile)
{
    const Bytes valid = build(two_segments());
    const std::uint64_t fits = valid.size() - 2 * std::uint64_t{at::header_size};
    for (const std::uint64_t offset :
         {fits + 1, std::uint64_t{valid.size()} - 1, std::uint64_t{valid.size()},
          std::uint64_t{valid.size()} + 1, max_value - 111, max_value - 55, max_value})
    {
        Bytes file = valid;
        put(file, at::phoff, offset);
        expect_unreadable(file, "offset " + std::to_string(offset));
    }
}

TEST(ElfProgramHeaders, TableMayEndWithTheFile)
{
    ElfFile elf = two_segments();
    elf.segments.pop_back();
    Bytes file = build(elf);
    const Bytes entry(file.begin() + at::headers, file.begin() + at::headers + at::header_size);
    put(file, at::phoff, std::uint64_t{file.size()});
    file.insert(file.end(), entry.begin(), entry.end());
    EXPECT_EQ(elf::parse(file).value().segments.size(), 1U);
    file.pop_back();
    expect_unreadable(file, "do not fit");
}

TEST(ElfProgramHeaders, OnlyLoadableEntriesAreLookedAt)
{
    ElfFile elf = two_segments();
    elf.segments.insert(elf.segments.begin(),
                        {.flags = 0, .filesz = max_value, .offset = max_value, .type = 6});
    const auto image = elf::parse(build(elf));
    ASSERT_TRUE(image.has_value());
    EXPECT_EQ(image->program_headers, 3);
    EXPECT_EQ(image->segments.size(), 2U);
    EXPECT_EQ(image->loaded_bytes, 400U);
}

// Segments.

TEST(ElfSegments, FileRangeMustBeInsideTheFile)
{
    const std::uint64_t length = build(two_segments()).size();
    const std::pair<std::uint64_t, std::uint64_t> outside[] = {
        {length, 1},     {length + 1, 0},    {0, length + 1},    {max_value - 7, 16},
        {max_value, 0},  {max_value, 1},     {1, max_value},     {0, max_value},
        {length - 1, 2}, {8, max_value - 3}, {max_value - 7, 8},
    };
    for (const auto& [offset, filesz] : outside) {
        ElfFile elf = two_segments();
        elf.segments[1].offset = offset;
        elf.segments[1].filesz = filesz;
        SCOPED_TRACE(::testing::Message() << offset << " + " << filesz);
        expect_error(elf::parse(build(elf)),
                     {.code = ErrorCode::elf_segment_addr_or_size_error, .address = 0x12010});
    }
    for (const auto& [offset, filesz] : {std::pair{length, std::uint64_t{0}},
                                         {length - 1, std::uint64_t{1}},
                                         {std::uint64_t{0}, length}})
    {
        ElfFile elf = two_segments();
        elf.segments[1].offset = offset;
        elf.segments[1].filesz = filesz;
        EXPECT_TRUE(elf::parse(build(elf)).has_value()) << offset << " + " << filesz;
    }
}

TEST(ElfSegments, MustBeReadable)
{
    for (const std::uint32_t flags :
         {0U, flag::execute, flag::write, flag::write | flag::execute, 0xfffffff8U})
    {
        ElfFile elf = two_segments();
        elf.segments[1].flags = flags;
        expect_error(elf::parse(build(elf)),
                     {.code = ErrorCode::elf_segment_unreadable, .address = 0x12010});
    }
}

TEST(ElfSegments, MustNotBeWritableAndExecutable)
{
    for (const std::uint32_t flags : {7U, 0xffffffffU}) {
        ElfFile elf = two_segments();
        elf.segments[0].flags = flags;
        expect_error(elf::parse(build(elf)),
                     {.code = ErrorCode::elf_segment_writable_and_executable, .address = 0x10000});
    }
}

TEST(ElfSegments, ChecksOfOneSegmentComeInOrderAndSegmentsInTableOrder)
{
    ElfFile elf = two_segments();
    elf.segments[0].flags = flag::write | flag::execute;
    elf.segments[1].offset = max_value;
    expect_error(elf::parse(build(elf)),
                 {.code = ErrorCode::elf_segment_unreadable, .address = 0x10000});
    elf.segments[0].offset = max_value;
    expect_error(elf::parse(build(elf)),
                 {.code = ErrorCode::elf_segment_addr_or_size_error, .address = 0x10000});
}

TEST(ElfSegments, SizeIsRoundedAndWraps)
{
    struct Case
    {
        std::uint64_t vaddr, memsz, size;
    };
    const Case cases[] = {
        {0x10000, 0, 0},
        {0x10000, 1, 0x1000},
        {0x10000, 0x1000, 0x1000},
        {0x10000, 0x1001, 0x2000},
        {0x10008, 0, 0x1000},
        {0x10008, 0xff8, 0x1000},
        {0x10008, 0xff9, 0x2000},
        {0x10000, max_value, 0},
        {0x10000, max_value - 0xffe, 0},
        {0x10000, max_value - 0xfff, max_value - 0xfff},
        {0x10008, max_value, 0x1000},
        {0x10008, max_value - 7, 0},
        {0x10fff, max_value, 0x1000},
        {max_value, 1, 0x1000},
        {max_value, 2, 0x2000},
    };
    for (const Case& c : cases) {
        const auto image = elf::parse(build({.segments = {{.vaddr = c.vaddr, .memsz = c.memsz}}}));
        ASSERT_TRUE(image.has_value());
        const Segment& segment = image->segments[0];
        EXPECT_EQ(segment.address, c.vaddr & ~std::uint64_t{0xfff});
        EXPECT_EQ(segment.padding, c.vaddr & 0xfff);
        EXPECT_EQ(segment.size, c.size) << std::hex << c.vaddr << ' ' << c.memsz;
    }
}
}  // namespace
}  // namespace mopvm
