// SPDX-License-Identifier: MIT
// Loading program files: what it leaves in memory, what refuses it, and what hostile files do.

#include "elf/loader.hpp"
#include "elf/image.hpp"
#include "memory/mapping.hpp"
#include "support/elf_builder.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <random>
#include <utility>
#include <vector>

namespace mopvm
{
namespace
{
using elf::Image;
using memory::Mapping;
using test::build;
using test::ElfFile;
using test::pattern;
using test::program_header_at;

namespace at = test::elf_at;
namespace flag = test::elf_flag;

using Bytes = std::vector<std::byte>;

constexpr std::uint64_t size = min_memory_size;
constexpr std::uint64_t max_value = std::numeric_limits<std::uint64_t>::max();
constexpr std::uint8_t dirty = page_flag::dirty;
constexpr std::uint8_t frozen = page_flag::frozen | page_flag::dirty;
constexpr std::uint8_t code = page_flag::executable | page_flag::frozen | page_flag::dirty;
constexpr Version all_versions[] = {Version::v0, Version::v1, Version::v2};

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

// Loading.

/// A file loaded into fresh memory.
struct Loaded
{
    Loaded(const Bytes& file, Version version)
        : mapping{std::move(*Mapping::create(size, version))},
          image{elf::parse(file).value()},
          result{elf::load(image, file, mapping.space(), version)}
    {}
    Loaded(const ElfFile& elf, Version version) : Loaded(build(elf), version) {}

    [[nodiscard]] std::uint8_t byte(std::uint64_t address)
    {
        return mapping.space().bytes[address];
    }
    [[nodiscard]] std::uint8_t flags(std::uint64_t address)
    {
        return mapping.space().flags[address / page_size];
    }

    Mapping mapping;
    Image image;
    Result<void> result;
};

TEST(ElfLoad, PlacesBytesAndZeroesAroundThem)
{
    for (const bool big_endian : {false, true}) {
        ElfFile elf = two_segments();
        elf.big_endian = big_endian;
        Loaded loaded{elf, Version::v2};
        ASSERT_TRUE(loaded.result.has_value());
        const auto& space = loaded.mapping.space();
        for (std::uint64_t address = 0; address < size; ++address) {
            std::uint64_t expected = 0;
            if (address >= 0x10000 && address < 0x10000 + 300)
                expected = 1 + (address - 0x10000) % 251;
            if (address >= 0x12010 && address < 0x12010 + 100)
                expected = 1 + (address - 0x12010) % 251;
            ASSERT_EQ(space.bytes[address], expected) << std::hex << address;
        }
        for (std::uint64_t page = 0; page < space.page_count(); ++page)
            ASSERT_EQ(space.flags[page], page == 0x10 ? code : page == 0x12 ? dirty : 0);
        EXPECT_EQ(space.code_epoch, 1U);
    }
}

TEST(ElfLoad, PageFlagsFollowTheVersion)
{
    for (const Version version : all_versions) {
        Loaded loaded{{.segments = {{.vaddr = 0x10000, .flags = flag::code, .memsz = 1},
                                    {.vaddr = 0x11000, .flags = flag::read, .memsz = 1},
                                    {.vaddr = 0x12000, .flags = flag::data, .memsz = 1}}},
                      version};
        ASSERT_TRUE(loaded.result.has_value());
        EXPECT_EQ(loaded.flags(0x10000), code);
        EXPECT_EQ(loaded.flags(0x11000), frozen);
        EXPECT_EQ(loaded.flags(0x12000), version == Version::v0 ? frozen : dirty);
    }
}

TEST(ElfLoad, NothingToLoadSucceeds)
{
    for (const Version version : all_versions) {
        EXPECT_TRUE(Loaded(ElfFile{}, version).result.has_value());
        Loaded loaded{{.segments = {{.vaddr = size, .memsz = 0}}}, version};
        EXPECT_TRUE(loaded.result.has_value());
    }
}

TEST(ElfLoad, EmptySegmentInTheMiddleOfAPageTakesThePage)
{
    Loaded loaded{{.segments = {{.vaddr = 0x10008, .flags = flag::read, .memsz = 0}}}, Version::v2};
    ASSERT_TRUE(loaded.result.has_value());
    EXPECT_EQ(loaded.flags(0x10000), frozen);
}

TEST(ElfLoad, FileBytesBeyondMemszGoOnToThePagesEnd)
{
    Loaded loaded{{.segments = {{.vaddr = 0x10ff0, .bytes = pattern(100), .memsz = 1}}},
                  Version::v2};
    ASSERT_TRUE(loaded.result.has_value());
    EXPECT_EQ(loaded.byte(0x10fef), 0);
    EXPECT_EQ(loaded.byte(0x10ff0), 1);
    EXPECT_EQ(loaded.byte(0x10fff), 16);
    EXPECT_EQ(loaded.byte(0x11000), 0);
    EXPECT_EQ(loaded.flags(0x11000), 0);
    EXPECT_EQ(loaded.image.loaded_bytes, 100U);
}

TEST(ElfLoad, SegmentOutsideMemoryIsOutOfBound)
{
    struct Case
    {
        std::uint64_t vaddr, memsz, reported;
    };
    const Case cases[] = {
        {size - 0x1000, 0x1001, size + 0x1000}, {size, 1, size + 0x1000},
        {size + 0x1000, 1, size + 0x1000},      {size + 0x1000, 0, size + 0x1000},
        {0x1100000000, 1, 0x1100000000},        {max_value - 0xfff, 1, max_value - 0xfff},
        {max_value, 1, max_value - 0xfff},      {0x1000, max_value - 0xfff, 0},
        {0x2000, max_value - 0xfff, 0x1000},    {0, size + 1, size + 0x1000},
    };
    for (const Case& c : cases) {
        SCOPED_TRACE(::testing::Message() << std::hex << c.vaddr << ' ' << c.memsz);
        Loaded loaded{{.segments = {{.vaddr = c.vaddr, .memsz = c.memsz}}}, Version::v2};
        expect_error(loaded.result, {.code = ErrorCode::mem_out_of_bound, .address = c.reported});
    }
}

TEST(ElfLoad, SegmentMayFillMemoryToItsEnd)
{
    Loaded loaded{{.segments = {{.vaddr = 0, .bytes = pattern(size)}}}, Version::v2};
    ASSERT_TRUE(loaded.result.has_value());
    EXPECT_EQ(loaded.byte(size - 1), 1 + (size - 1) % 251);
}

TEST(ElfLoad, SizeThatWrapsToZeroIsOutOfTheExternalData)
{
    Loaded loaded{{.segments = {{.vaddr = 0x10008, .memsz = max_value - 7}}}, Version::v2};
    expect_error(
        loaded.result,
        {.code = ErrorCode::mem_out_of_bound, .kind = BoundKind::external_data, .address = 8});
}

TEST(ElfLoad, SizeThatWrapsIsASmallSegment)
{
    Loaded whole{{.segments = {{.vaddr = 0x10000, .bytes = pattern(64), .memsz = max_value}}},
                 Version::v2};
    ASSERT_TRUE(whole.result.has_value());
    EXPECT_EQ(whole.byte(0x10000), 0);
    EXPECT_EQ(whole.flags(0x10000), 0);

    Loaded page{{.segments = {{.vaddr = 0x10008, .bytes = pattern(64), .memsz = max_value}}},
                Version::v2};
    ASSERT_TRUE(page.result.has_value());
    EXPECT_EQ(page.byte(0x10008), 1);
    EXPECT_EQ(page.flags(0x10000), code);
}

TEST(ElfLoad, FrozenPageRefusesALaterSegment)
{
    for (const std::uint32_t first : {flag::code, flag::read}) {
        for (const std::uint32_t second : {flag::code, flag::read, flag::data}) {
            for (const Version version : all_versions) {
                Loaded loaded{
                    {.segments = {{.vaddr = 0x10000, .flags = first, .bytes = pattern(0x1800)},
                                  {.vaddr = 0x11900, .flags = second, .bytes = pattern(8)}}},
                    version};
                expect_error(loaded.result,
                             {.code = ErrorCode::mem_write_on_frozen_page, .address = 0x11});
            }
        }
    }
}

TEST(ElfLoad, LaterSegmentWipesAPageOfWritableData)
{
    const ElfFile elf{
        .segments = {{.vaddr = 0x10000, .flags = flag::data, .bytes = pattern(0x1800)},
                     {.vaddr = 0x11900, .flags = flag::code, .bytes = pattern(8)}}};
    for (const Version version : {Version::v1, Version::v2}) {
        Loaded loaded{elf, version};
        ASSERT_TRUE(loaded.result.has_value());
        EXPECT_EQ(loaded.byte(0x10fff), 1 + 0xfff % 251);
        for (std::uint64_t address = 0x11000; address < 0x11900; ++address)
            ASSERT_EQ(loaded.byte(address), 0);
        EXPECT_EQ(loaded.byte(0x11900), 1);
        EXPECT_EQ(loaded.flags(0x10000), dirty);
        EXPECT_EQ(loaded.flags(0x11000), code);
    }
    expect_error(Loaded(elf, Version::v0).result,
                 {.code = ErrorCode::mem_write_on_frozen_page, .address = 0x11});
}

TEST(ElfLoad, CodeInTheMiddleOfAPageLoadsFromVersion1On)
{
    const ElfFile elf{.segments = {{.vaddr = 0x10004, .flags = flag::code, .bytes = pattern(8)}}};
    expect_error(Loaded(elf, Version::v0).result,
                 {.code = ErrorCode::mem_write_on_executable_page, .address = 0x10});
    for (const Version version : {Version::v1, Version::v2}) {
        Loaded loaded{elf, version};
        ASSERT_TRUE(loaded.result.has_value());
        EXPECT_EQ(loaded.byte(0x10004), 1);
    }
}

TEST(ElfLoad, OtherSegmentsInTheMiddleOfAPageLoadInVersion0)
{
    for (const std::uint32_t flags : {flag::read, flag::data}) {
        Loaded loaded{{.segments = {{.vaddr = 0x10004, .flags = flags, .bytes = pattern(8)}}},
                      Version::v0};
        ASSERT_TRUE(loaded.result.has_value());
        EXPECT_EQ(loaded.byte(0x10003), 0);
        EXPECT_EQ(loaded.byte(0x10004), 1);
    }
}

TEST(ElfLoad, StopsAtTheFirstRefusedSegment)
{
    Loaded loaded{{.segments = {{.vaddr = 0x10000, .bytes = pattern(8)},
                                {.vaddr = size, .bytes = pattern(8)},
                                {.vaddr = 0x20000, .bytes = pattern(8)}}},
                  Version::v2};
    expect_error(loaded.result, {.code = ErrorCode::mem_out_of_bound, .address = size + 0x1000});
    EXPECT_EQ(loaded.byte(0x10000), 1);
    EXPECT_EQ(loaded.byte(0x20000), 0);
}

TEST(ElfLoad, LoadingAgainAfterClearGivesTheSameMemory)
{
    Loaded loaded{two_segments(), Version::v2};
    const auto& space = loaded.mapping.space();
    const std::vector<std::uint8_t> bytes(space.bytes, space.bytes + size);
    const std::vector<std::uint8_t> flags(space.flags, space.flags + space.page_count());
    ASSERT_TRUE(Memory{loaded.mapping.space()}.fill(0x20000, 5000, std::byte{1}).has_value());
    ASSERT_TRUE(loaded.mapping.clear().has_value());
    const Bytes file = build(two_segments());
    ASSERT_TRUE(elf::load(loaded.image, file, loaded.mapping.space(), Version::v2).has_value());
    EXPECT_TRUE(std::equal(bytes.begin(), bytes.end(), space.bytes));
    EXPECT_TRUE(std::equal(flags.begin(), flags.end(), space.flags));
}

// Hostile files: whatever a file holds, it gives an image or an error, and never more.

/// Parses and, where possible, loads; true when both succeeded.
bool loads(const Bytes& file, Mapping& mapping)
{
    // A copy of exact size, so that a sanitizer sees any read behind it.
    const Bytes exact(file.begin(), file.end());
    const auto image = elf::parse(exact);
    if (!image)
        return false;
    EXPECT_LE(image->segments.capacity() * sizeof(Segment), exact.size());
    EXPECT_TRUE(mapping.clear().has_value());
    return elf::load(*image, exact, mapping.space(), Version::v0).has_value();
}

TEST(ElfHostile, TruncationAtEveryLengthIsAnElfError)
{
    for (const bool big_endian : {false, true}) {
        ElfFile elf = two_segments();
        elf.big_endian = big_endian;
        const Bytes file = build(elf);
        const std::uint64_t headers = program_header_at(2, 0);
        for (std::size_t length = 0; length < file.size(); ++length) {
            const Bytes part(file.begin(), file.begin() + static_cast<std::ptrdiff_t>(length));
            const auto image = elf::parse(part);
            ASSERT_FALSE(image.has_value());
            if (length < headers)
                ASSERT_EQ(image.error().code, ErrorCode::elf_parse_error) << length;
            else
                expect_error(image, {.code = ErrorCode::elf_segment_addr_or_size_error,
                                     .address = length < headers + 300 ? 0x10000U : 0x12010U});
        }
    }
}

TEST(ElfHostile, EveryValueOfEveryHeaderByteIsSurvived)
{
    Mapping mapping = std::move(*Mapping::create(size, Version::v0));
    for (const bool big_endian : {false, true}) {
        ElfFile elf = two_segments();
        elf.big_endian = big_endian;
        const Bytes valid = build(elf);
        ASSERT_TRUE(loads(valid, mapping));
        int accepted = 0;
        for (std::size_t position = 0; position < program_header_at(2, 0); ++position) {
            Bytes file = valid;
            for (unsigned value = 0; value < 256; ++value) {
                file[position] = static_cast<std::byte>(value);
                accepted += loads(file, mapping);
            }
        }
        EXPECT_GT(accepted, 0);
    }
}

TEST(ElfHostile, RandomDamageIsSurvived)
{
    constexpr std::uint32_t seed = 4711;
    SCOPED_TRACE(::testing::Message() << "seed " << seed);
    std::mt19937 random{seed};
    Mapping mapping = std::move(*Mapping::create(size, Version::v0));
    const Bytes valid = build(two_segments());
    for (int round = 0; round < 20000; ++round) {
        Bytes file = valid;
        for (auto changes = 1 + random() % 6; changes > 0; --changes)
            file[at::entry + random() % (program_header_at(2, 0) - at::entry)] =
                static_cast<std::byte>(random() % 4 == 0 ? 0xff : random() % 256);
        loads(file, mapping);
    }
}
}  // namespace
}  // namespace mopvm
