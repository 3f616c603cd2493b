// SPDX-License-Identifier: MIT
// Guest memory: instruction accesses, bulk accesses, page initialisation, and the mapping behind
// it.

#include "memory/mapping.hpp"
#include "memory/space.hpp"

#include <mopvm/memory.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

namespace mopvm
{
namespace
{
using memory::Fault;
using memory::Mapping;
using memory::Space;

constexpr std::uint64_t size = min_memory_size;
constexpr std::uint64_t last_page = size / page_size - 1;
constexpr std::uint64_t max_address = std::numeric_limits<std::uint64_t>::max();
constexpr std::uint8_t code_flags = page_flag::executable | page_flag::frozen;

Mapping make_mapping(Version version = Version::v2, std::uint64_t bytes = size)
{
    auto mapping = Mapping::create(bytes, version);
    EXPECT_TRUE(mapping.has_value());
    return std::move(*mapping);
}

std::vector<std::byte> bytes_of(std::size_t count, std::uint8_t value)
{
    return std::vector<std::byte>(count, std::byte{value});
}

template <typename T>
void expect_error(const Result<T>& result,
                  ErrorCode code,
                  std::uint64_t address,
                  BoundKind kind = BoundKind::memory)
{
    ASSERT_FALSE(result.has_value());
    EXPECT_EQ(result.error().code, code);
    EXPECT_EQ(result.error().address, address);
    EXPECT_EQ(result.error().kind, kind);
}

void expect_fault(bool done, const Fault& fault, ErrorCode code, std::uint64_t address)
{
    EXPECT_FALSE(done);
    EXPECT_EQ(fault.code, code);
    EXPECT_EQ(fault.address, address);
}

bool all_zero(const Space& space)
{
    const auto is_zero = [](std::uint8_t byte) { return byte == 0; };
    return std::all_of(space.bytes, space.bytes + space.size, is_zero) &&
           std::all_of(space.flags, space.flags + space.page_count(), is_zero);
}

/// A machine's memory, and the view of it that hosts get.
class MemoryTest : public ::testing::Test
{
protected:
    void make_executable(std::uint64_t page)
    {
        space.flags[page] |= page_flag::executable | page_flag::dirty;
    }
    [[nodiscard]] std::uint8_t flags(std::uint64_t page) const { return space.flags[page]; }

    Mapping mapping = make_mapping();
    Space& space = mapping.space();
    Memory memory{space};
    Fault fault;
};

// Load instructions.

TEST_F(MemoryTest, LoadReachesTheFirstAndTheLastByte)
{
    ASSERT_TRUE(memory.store(0, std::uint8_t{0x11}).has_value());
    ASSERT_TRUE(memory.store(size - 1, std::uint8_t{0x22}).has_value());
    std::uint8_t byte = 0;
    ASSERT_TRUE(space.load(0, byte, fault));
    EXPECT_EQ(byte, 0x11);
    ASSERT_TRUE(space.load(size - 1, byte, fault));
    EXPECT_EQ(byte, 0x22);
    std::uint64_t word = 0;
    ASSERT_TRUE(space.load(size - 8, word, fault));
    EXPECT_EQ(word, 0x2200000000000000);
}

template <typename T>
void expect_load_bounds(const Space& space)
{
    Fault fault;
    T value = 0;
    EXPECT_TRUE(space.load(size - sizeof(T), value, fault));
    for (std::uint64_t inside = 1; inside < sizeof(T); ++inside) {
        const std::uint64_t address = size - inside;
        expect_fault(space.load(address, value, fault), fault, ErrorCode::mem_out_of_bound,
                     address + sizeof(T));
    }
    for (const std::uint64_t address :
         {size, size + 1, max_address - 8, max_address - 1, max_address})
        expect_fault(space.load(address, value, fault), fault, ErrorCode::mem_out_of_bound,
                     address);
}

TEST_F(MemoryTest, LoadOutsideMemoryReportsItsAddressOrItsEnd)
{
    expect_load_bounds<std::uint8_t>(space);
    expect_load_bounds<std::uint16_t>(space);
    expect_load_bounds<std::uint32_t>(space);
    expect_load_bounds<std::uint64_t>(space);
}

TEST_F(MemoryTest, LoadIsLittleEndianAndMayCrossPages)
{
    for (std::uint8_t i = 0; i < 8; ++i)
        ASSERT_TRUE(memory.store(page_size - 3 + i, static_cast<std::uint8_t>(i + 1)).has_value());
    std::uint64_t word = 0;
    ASSERT_TRUE(space.load(page_size - 3, word, fault));
    EXPECT_EQ(word, 0x0807060504030201);
    std::int16_t half = 0;
    ASSERT_TRUE(space.load(page_size - 1, half, fault));
    EXPECT_EQ(half, 0x0403);
}

TEST_F(MemoryTest, LoadIgnoresPageFlagsAndLeavesThemAlone)
{
    space.flags[3] = code_flags;
    std::uint64_t word = 1;
    EXPECT_TRUE(space.load(3 * page_size, word, fault));
    EXPECT_EQ(word, 0U);
    EXPECT_EQ(flags(3), code_flags);
}

TEST(MemoryVersion0, LoadInstructionsCannotReachTheLastByte)
{
    Mapping mapping = make_mapping(Version::v0);
    const Space& space = mapping.space();
    Fault fault;
    std::uint64_t word = 0;
    std::uint8_t byte = 0;
    EXPECT_TRUE(space.load(size - 9, word, fault));
    expect_fault(space.load(size - 8, word, fault), fault, ErrorCode::mem_out_of_bound, size);
    expect_fault(space.load(size - 7, word, fault), fault, ErrorCode::mem_out_of_bound, size + 1);
    EXPECT_TRUE(space.load(size - 2, byte, fault));
    expect_fault(space.load(size - 1, byte, fault), fault, ErrorCode::mem_out_of_bound, size);
    expect_fault(space.load(size, byte, fault), fault, ErrorCode::mem_out_of_bound, size);
}

TEST(MemoryVersion0, AtomicsStoresAndHostsReachTheLastByte)
{
    Mapping mapping = make_mapping(Version::v0);
    Space& space = mapping.space();
    Fault fault;
    std::uint64_t word = 0;
    EXPECT_TRUE(space.load_atomic(size - 8, word, fault));
    expect_fault(space.load_atomic(size - 7, word, fault), fault, ErrorCode::mem_out_of_bound,
                 size + 1);
    EXPECT_TRUE(space.store(size - 8, word, fault));
    EXPECT_TRUE(Memory{space}.load<std::uint64_t>(size - 8).has_value());
}

// Store instructions.

TEST_F(MemoryTest, StoreWritesLittleEndianAndMarksOnePage)
{
    ASSERT_TRUE(space.store(page_size + 1, std::uint32_t{0x04030201}, fault));
    for (std::uint8_t i = 0; i < 4; ++i)
        EXPECT_EQ(space.bytes[page_size + 1 + i], i + 1);
    EXPECT_EQ(flags(0), 0);
    EXPECT_EQ(flags(1), page_flag::dirty);
    EXPECT_EQ(flags(2), 0);
}

TEST_F(MemoryTest, StoreThatEndsWithItsPageMarksOnlyThatPage)
{
    ASSERT_TRUE(space.store(page_size - 8, std::uint64_t{1}, fault));
    EXPECT_EQ(flags(0), page_flag::dirty);
    EXPECT_EQ(flags(1), 0);
}

TEST_F(MemoryTest, StoreAcrossPagesMarksBoth)
{
    ASSERT_TRUE(space.store(page_size - 1, std::uint16_t{0x0201}, fault));
    EXPECT_EQ(space.bytes[page_size - 1], 1);
    EXPECT_EQ(space.bytes[page_size], 2);
    EXPECT_EQ(flags(0), page_flag::dirty);
    EXPECT_EQ(flags(1), page_flag::dirty);
}

TEST_F(MemoryTest, StoreToAnExecutablePageIsRefusedWithoutATrace)
{
    space.flags[2] = code_flags;
    const bool done = space.store(2 * page_size, std::uint8_t{1}, fault);
    expect_fault(done, fault, ErrorCode::mem_write_on_executable_page, 2);
    EXPECT_EQ(flags(2), code_flags);
    EXPECT_EQ(space.bytes[2 * page_size], 0);
}

TEST_F(MemoryTest, StoreToAFrozenPageSucceeds)
{
    space.flags[2] = page_flag::frozen;
    EXPECT_TRUE(space.store(2 * page_size, std::uint8_t{1}, fault));
    EXPECT_EQ(flags(2), page_flag::frozen | page_flag::dirty);
}

TEST_F(MemoryTest, CrossingStoreRefusedBySecondPageWritesNothingButMarksTheFirst)
{
    make_executable(5);
    const bool done = space.store(5 * page_size - 4, max_address, fault);
    expect_fault(done, fault, ErrorCode::mem_write_on_executable_page, 5);
    EXPECT_EQ(flags(4), page_flag::dirty);
    for (std::uint64_t at = 5 * page_size - 4; at < 5 * page_size + 4; ++at)
        EXPECT_EQ(space.bytes[at], 0);
}

TEST_F(MemoryTest, CrossingStoreRefusedByFirstPageLeavesTheSecondUnmarked)
{
    make_executable(4);
    const bool done = space.store(5 * page_size - 4, max_address, fault);
    expect_fault(done, fault, ErrorCode::mem_write_on_executable_page, 4);
    EXPECT_EQ(flags(5), 0);
}

TEST_F(MemoryTest, StorePastTheEndMarksTheLastPage)
{
    expect_fault(space.store(size - 4, std::uint64_t{1}, fault), fault, ErrorCode::mem_out_of_bound,
                 size + 4);
    EXPECT_EQ(flags(last_page), page_flag::dirty);
    EXPECT_EQ(space.bytes[size - 4], 0);
}

TEST_F(MemoryTest, StorePastTheEndFromAnExecutablePageIsAPermissionFault)
{
    make_executable(last_page);
    expect_fault(space.store(size - 4, std::uint64_t{1}, fault), fault,
                 ErrorCode::mem_write_on_executable_page, last_page);
}

TEST_F(MemoryTest, StoreOutsideMemoryReportsItsAddress)
{
    for (const std::uint64_t address :
         {size, size + page_size, max_address - 7, max_address - 3, max_address})
        expect_fault(space.store(address, std::uint64_t{1}, fault), fault,
                     ErrorCode::mem_out_of_bound, address);
    EXPECT_TRUE(all_zero(space));
}

TEST_F(MemoryTest, StoreReachesTheLastByte)
{
    EXPECT_TRUE(space.store(size - 1, std::uint8_t{7}, fault));
    EXPECT_TRUE(space.store(size - 16, std::uint64_t{7}, fault));
    EXPECT_EQ(space.bytes[size - 1], 7);
}

// Host accesses.

TEST_F(MemoryTest, SizeIsTheMappingsSize)
{
    EXPECT_EQ(memory.size(), size);
}

TEST_F(MemoryTest, EmptyHostAccessesSucceedAnywhere)
{
    make_executable(1);
    for (const std::uint64_t address : {std::uint64_t{0}, page_size, size, size + 1, max_address}) {
        EXPECT_TRUE(memory.read(address, {}).has_value());
        EXPECT_TRUE(memory.write(address, {}).has_value());
        EXPECT_TRUE(memory.fill(address, 0, std::byte{1}).has_value());
        const auto view = memory.view(address, 0);
        ASSERT_TRUE(view.has_value());
        EXPECT_TRUE(view->empty());
    }
    EXPECT_EQ(flags(0), 0);
}

TEST_F(MemoryTest, WriteAndReadBackAcrossPages)
{
    const auto written = bytes_of(3 * page_size, 0x5a);
    ASSERT_TRUE(memory.write(page_size / 2, written).has_value());
    std::vector<std::byte> got(written.size());
    ASSERT_TRUE(memory.read(page_size / 2, got).has_value());
    EXPECT_EQ(got, written);
    for (std::uint64_t page = 0; page < 4; ++page)
        EXPECT_EQ(flags(page), page_flag::dirty);
    EXPECT_EQ(flags(4), 0);
    EXPECT_EQ(space.bytes[page_size / 2 - 1], 0);
    EXPECT_EQ(space.bytes[page_size / 2 + 3 * page_size], 0);
}

TEST_F(MemoryTest, HostAccessesReachTheLastByteAndNoFurther)
{
    auto four = bytes_of(4, 9);
    EXPECT_TRUE(memory.write(size - 4, four).has_value());
    EXPECT_TRUE(memory.read(size - 4, four).has_value());
    EXPECT_TRUE(memory.fill(size - 4, 4, std::byte{1}).has_value());
    EXPECT_TRUE(memory.view(size - 4, 4).has_value());
    EXPECT_TRUE(memory.view(0, size).has_value());

    expect_error(memory.write(size - 3, four), ErrorCode::mem_out_of_bound, size + 1);
    expect_error(memory.read(size - 3, four), ErrorCode::mem_out_of_bound, size + 1);
    expect_error(memory.fill(size - 3, 4, {}), ErrorCode::mem_out_of_bound, size + 1);
    expect_error(memory.view(size - 3, 4), ErrorCode::mem_out_of_bound, size + 1);
    expect_error(memory.view(0, size + 1), ErrorCode::mem_out_of_bound, size + 1);
    expect_error(memory.write(size, four), ErrorCode::mem_out_of_bound, size);
    expect_error(memory.read(max_address, four), ErrorCode::mem_out_of_bound, max_address);
}

TEST_F(MemoryTest, HostAccessWhoseEndWrapsReportsTheWrappedEnd)
{
    expect_error(memory.fill(16, max_address, {}), ErrorCode::mem_out_of_bound, 15);
    expect_error(memory.view(16, max_address - 15), ErrorCode::mem_out_of_bound, 0);
    expect_error(memory.view(1, max_address), ErrorCode::mem_out_of_bound, 0);
    EXPECT_TRUE(all_zero(space));
}

TEST_F(MemoryTest, WriteRefusedByALaterPageWritesNothingAndMarksTheEarlierOnes)
{
    make_executable(3);
    const auto data = bytes_of(4 * page_size, 0xff);
    expect_error(memory.write(page_size, data), ErrorCode::mem_write_on_executable_page, 3);
    EXPECT_EQ(flags(0), 0);
    EXPECT_EQ(flags(1), page_flag::dirty);
    EXPECT_EQ(flags(2), page_flag::dirty);
    EXPECT_EQ(flags(4), 0);
    EXPECT_EQ(space.bytes[page_size], 0);
    expect_error(memory.fill(page_size, data.size(), std::byte{1}),
                 ErrorCode::mem_write_on_executable_page, 3);
    EXPECT_EQ(space.bytes[page_size], 0);
}

TEST_F(MemoryTest, HostWritePastTheEndIsOutOfBoundEvenFromAnExecutablePage)
{
    make_executable(last_page);
    expect_error(memory.store(size - 4, std::uint64_t{1}), ErrorCode::mem_out_of_bound, size + 4);
}

TEST_F(MemoryTest, HostWritePastTheEndMarksNothing)
{
    expect_error(memory.store(size - 4, std::uint64_t{1}), ErrorCode::mem_out_of_bound, size + 4);
    EXPECT_EQ(flags(last_page), 0);
}

TEST_F(MemoryTest, FillSetsExactlyItsRange)
{
    ASSERT_TRUE(memory.fill(page_size - 1, 3, std::byte{0xee}).has_value());
    EXPECT_EQ(space.bytes[page_size - 2], 0);
    EXPECT_EQ(space.bytes[page_size - 1], 0xee);
    EXPECT_EQ(space.bytes[page_size + 1], 0xee);
    EXPECT_EQ(space.bytes[page_size + 2], 0);
}

TEST_F(MemoryTest, TypedAccessIsLittleEndian)
{
    ASSERT_TRUE(memory.store(10, std::uint32_t{0x0a0b0c0d}).has_value());
    EXPECT_EQ(memory.load<std::uint8_t>(10).value(), 0x0d);
    EXPECT_EQ(memory.load<std::uint32_t>(10).value(), 0x0a0b0c0dU);
    expect_error(memory.load<std::uint16_t>(size - 1), ErrorCode::mem_out_of_bound, size + 1);
}

TEST_F(MemoryTest, ViewShowsLaterWritesInPlace)
{
    const auto view = memory.view(100, 2);
    ASSERT_TRUE(view.has_value());
    ASSERT_TRUE(memory.store(100, std::uint16_t{0x0201}).has_value());
    EXPECT_EQ((*view)[0], std::byte{1});
    EXPECT_EQ((*view)[1], std::byte{2});
}

TEST_F(MemoryTest, WriteTakesAnOverlappingViewOfTheSameMemory)
{
    for (std::uint8_t i = 0; i < 8; ++i)
        ASSERT_TRUE(memory.store(i, static_cast<std::uint8_t>(i + 1)).has_value());
    ASSERT_TRUE(memory.write(2, memory.view(0, 8).value()).has_value());
    EXPECT_EQ(memory.load<std::uint64_t>(2).value(), 0x0807060504030201);
}

TEST_F(MemoryTest, FlagsOfAPageBeyondTheLastAreOutOfBound)
{
    space.flags[last_page] = page_flag::frozen;
    EXPECT_EQ(memory.flags(last_page).value(), page_flag::frozen);
    expect_error(memory.flags(last_page + 1), ErrorCode::mem_out_of_bound, size);
    expect_error(memory.flags(max_address), ErrorCode::mem_out_of_bound, max_address << 12);
}

// init_pages.

TEST_F(MemoryTest, InitPagesPadsCopiesAndZeroesTheRest)
{
    ASSERT_TRUE(memory.fill(0, 4 * page_size, std::byte{0xcc}).has_value());
    const auto source = bytes_of(page_size, 0x11);
    ASSERT_TRUE(
        memory.init_pages(page_size, 2 * page_size, page_flag::frozen, source, 10).has_value());
    for (std::uint64_t at = 0; at < 4 * page_size; ++at) {
        const bool outside = at < page_size || at >= 3 * page_size;
        const bool copied = at >= page_size + 10 && at < 2 * page_size + 10;
        ASSERT_EQ(space.bytes[at], outside ? 0xcc : copied ? 0x11 : 0) << at;
    }
    EXPECT_EQ(flags(0), page_flag::dirty);
    EXPECT_EQ(flags(1), page_flag::frozen | page_flag::dirty);
    EXPECT_EQ(flags(2), page_flag::frozen | page_flag::dirty);
    EXPECT_EQ(flags(3), page_flag::dirty);
}

TEST_F(MemoryTest, InitPagesCutsASourceThatIsTooLong)
{
    const auto source = bytes_of(3 * page_size, 0x11);
    ASSERT_TRUE(memory.init_pages(0, page_size, 0, source, 100).has_value());
    EXPECT_EQ(space.bytes[99], 0);
    EXPECT_EQ(space.bytes[100], 0x11);
    EXPECT_EQ(space.bytes[page_size - 1], 0x11);
    EXPECT_EQ(space.bytes[page_size], 0);
    EXPECT_EQ(flags(1), 0);
}

TEST_F(MemoryTest, InitPagesAcceptsAnOffsetOfTheWholeRange)
{
    ASSERT_TRUE(memory.fill(0, page_size, std::byte{1}).has_value());
    ASSERT_TRUE(memory.init_pages(0, page_size, 0, bytes_of(8, 1), page_size).has_value());
    EXPECT_EQ(space.bytes[0], 0);
    EXPECT_EQ(space.bytes[page_size - 1], 0);
    EXPECT_EQ(space.bytes[page_size], 0);
}

TEST_F(MemoryTest, InitPagesOfNothingDoesNothing)
{
    space.flags[1] = page_flag::frozen;
    for (const std::uint64_t address : {std::uint64_t{0}, page_size, size})
        EXPECT_TRUE(memory.init_pages(address, 0, code_flags, bytes_of(4, 1), 0).has_value());
    EXPECT_EQ(flags(0), 0);
    EXPECT_EQ(flags(1), page_flag::frozen);
    EXPECT_EQ(space.code_epoch, 0U);
}

TEST_F(MemoryTest, InitPagesReportsItsChecksInOrder)
{
    const auto init = [&](std::uint64_t address, std::uint64_t bytes, std::uint64_t offset) {
        return memory.init_pages(address, bytes, 0, {}, offset);
    };
    const std::uint64_t far = max_address - page_size + 1;
    space.flags[0] = page_flag::frozen;

    // Each case breaks the rule it reports and rules that come later.
    expect_error(init(size + 1, 1, 2), ErrorCode::mem_page_unaligned_access, size + 1);
    expect_error(init(2 * size, 1, 2), ErrorCode::mem_page_unaligned_access, 2 * size + 1);
    expect_error(init(far, page_size + 1, 0), ErrorCode::mem_page_unaligned_access, 1);
    expect_error(init(size + page_size, page_size, 2 * page_size), ErrorCode::mem_out_of_bound,
                 size + page_size);
    expect_error(init(far, page_size, 0), ErrorCode::mem_out_of_bound, far);
    expect_error(init(0, size + page_size, max_address), ErrorCode::mem_out_of_bound,
                 size + page_size);
    expect_error(init(size, page_size, max_address), ErrorCode::mem_out_of_bound, size + page_size);
    expect_error(init(page_size, far, 0), ErrorCode::mem_out_of_bound, 0);
    expect_error(init(0, page_size, page_size + 1), ErrorCode::mem_out_of_bound, page_size + 1,
                 BoundKind::external_data);
    expect_error(init(size, 0, 1), ErrorCode::mem_out_of_bound, 1, BoundKind::external_data);
    expect_error(init(0, page_size, 0), ErrorCode::mem_write_on_frozen_page, 0);
}

TEST_F(MemoryTest, InitPagesReachesTheEndOfMemory)
{
    EXPECT_TRUE(memory.init_pages(0, size, 0, bytes_of(size, 1), 0).has_value());
    EXPECT_EQ(space.bytes[size - 1], 1);
}

TEST_F(MemoryTest, InitPagesRefusedByAFrozenPageChangesNothing)
{
    space.flags[3] = page_flag::frozen;
    space.flags[4] = page_flag::frozen;
    expect_error(memory.init_pages(page_size, 5 * page_size, code_flags, bytes_of(9, 1), 0),
                 ErrorCode::mem_write_on_frozen_page, 3);
    EXPECT_EQ(flags(1), 0);
    EXPECT_EQ(flags(3), page_flag::frozen);
    EXPECT_EQ(space.bytes[page_size], 0);
    EXPECT_EQ(space.code_epoch, 0U);
}

TEST_F(MemoryTest, InitPagesMayWriteExecutablePagesThatAreNotFrozen)
{
    make_executable(2);
    EXPECT_TRUE(memory.init_pages(2 * page_size, page_size, 0, bytes_of(4, 1), 0).has_value());
    EXPECT_EQ(flags(2), page_flag::executable | page_flag::dirty);
    EXPECT_EQ(space.bytes[2 * page_size], 1);
}

TEST_F(MemoryTest, CodeEpochCountsChangesOfExecutablePages)
{
    ASSERT_TRUE(memory.init_pages(0, page_size, 0, {}, 0).has_value());
    EXPECT_EQ(space.code_epoch, 0U);
    ASSERT_TRUE(memory.init_pages(0, 2 * page_size, page_flag::executable, {}, 0).has_value());
    EXPECT_EQ(space.code_epoch, 1U);
    ASSERT_TRUE(memory.init_pages(page_size, page_size, 0, bytes_of(4, 1), 0).has_value());
    EXPECT_EQ(space.code_epoch, 2U) << "an executable page has new bytes";
    ASSERT_TRUE(memory.init_pages(2 * page_size, page_size, page_flag::frozen, {}, 0).has_value());
    EXPECT_EQ(space.code_epoch, 2U);
}

TEST_F(MemoryTest, InitPagesTakesAViewOfTheRangeItself)
{
    for (std::uint8_t i = 0; i < 8; ++i)
        ASSERT_TRUE(memory.store(i, static_cast<std::uint8_t>(i + 1)).has_value());
    ASSERT_TRUE(memory.init_pages(0, page_size, 0, memory.view(0, 8).value(), 4).has_value());
    EXPECT_EQ(memory.load<std::uint32_t>(0).value(), 0U);
    EXPECT_EQ(memory.load<std::uint64_t>(4).value(), 0x0807060504030201);
    EXPECT_EQ(memory.load<std::uint32_t>(12).value(), 0U);
}
}  // namespace
}  // namespace mopvm
