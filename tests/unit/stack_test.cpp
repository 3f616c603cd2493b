// SPDX-License-Identifier: MIT
// The initial stack: its layout byte by byte in each version, and what refuses it.

#include "machine/stack.hpp"
#include "memory/mapping.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace mopvm
{
namespace
{
using machine::build_stack;
using machine::InitialStack;
using memory::Mapping;

constexpr std::uint64_t top = default_memory_size;
constexpr std::uint64_t region = top / 4;
constexpr Version narrow = Version::v0;
constexpr Version wide_versions[] = {Version::v1, Version::v2};

using Arguments = std::vector<std::string_view>;

class StackTest : public ::testing::Test
{
protected:
    /// Builds in cleared memory.
    Result<InitialStack> stack(Version version, const Arguments& arguments)
    {
        EXPECT_TRUE(mapping.clear().has_value());
        return build_stack(memory, version, arguments);
    }

    void expect_stack(Version version,
                      const Arguments& arguments,
                      std::uint64_t sp,
                      const std::vector<std::uint8_t>& content)
    {
        const auto built = stack(version, arguments);
        ASSERT_TRUE(built.has_value());
        EXPECT_EQ(built->sp, sp);
        EXPECT_EQ(built->bytes, top - sp);
        ASSERT_EQ(content.size(), top - sp);
        const auto& space = mapping.space();
        EXPECT_EQ(std::vector<std::uint8_t>(space.bytes + sp, space.bytes + top), content);
        EXPECT_TRUE(std::all_of(space.bytes, space.bytes + sp,
                                [](std::uint8_t byte) { return byte == 0; }));
    }

    void make_executable(std::uint64_t page)
    {
        mapping.space().flags[page] = page_flag::executable;
    }

    static void expect_error(const Result<InitialStack>& result,
                             ErrorCode code,
                             std::uint64_t address)
    {
        ASSERT_FALSE(result.has_value());
        EXPECT_EQ(result.error().code, code);
        EXPECT_EQ(result.error().address, address);
        EXPECT_EQ(result.error().kind, BoundKind::memory);
    }

    [[nodiscard]] std::uint64_t word(std::uint64_t address)
    {
        return memory.load<std::uint64_t>(address).value();
    }

    Mapping mapping = std::move(*Mapping::create(top, Version::v2));
    Memory memory{mapping.space()};
};

TEST_F(StackTest, WithoutArgumentsNothingIsWrittenFromVersion1On)
{
    for (const Version version : wide_versions) {
        expect_stack(version, {}, 0x3ffff0, std::vector<std::uint8_t>(16));
        EXPECT_EQ(mapping.space().flags[top / page_size - 1], 0);
    }
}

TEST_F(StackTest, WithoutArgumentsVersion0StoresAZeroCount)
{
    expect_stack(narrow, {}, 0x3ffff8, std::vector<std::uint8_t>(8));
    EXPECT_EQ(mapping.space().flags[top / page_size - 1], page_flag::dirty);
}

TEST_F(StackTest, LayoutFromVersion1On)
{
    // Strings end at the top, the first argument highest; words begin at an aligned address.
    for (const Version version : wide_versions) {
        expect_stack(version, {"ab", "c"}, 0x3fffd0,
                     {
                         2,    0,    0,    0,   0, 0,   0,   0,  // 3fffd0: count
                         0xfd, 0xff, 0x3f, 0,   0, 0,   0,   0,  // 3fffd8: argument 0
                         0xfb, 0xff, 0x3f, 0,   0, 0,   0,   0,  // 3fffe0: argument 1
                         0,    0,    0,    0,   0, 0,   0,   0,  // 3fffe8: null
                         0,    0,    0,    0,   0, 0,   0,   0,  // 3ffff0: gap
                         0,    0,    0,    'c', 0, 'a', 'b', 0,  // 3ffff8: gap, "c", "ab"
                     });
    }
}

TEST_F(StackTest, LayoutOfVersion0)
{
    // No null, no alignment, and only the low half of each word.
    expect_stack(narrow, {"ab", "c"}, 0x3fffe3,
                 {
                     2,    0,    0,    0,   0, 0, 0, 0,  // 3fffe3: count
                     0xfd, 0xff, 0x3f, 0,   0, 0, 0, 0,  // 3fffeb: argument 0
                     0xfb, 0xff, 0x3f, 0,   0, 0, 0, 0,  // 3ffff3: argument 1
                     'c',  0,    'a',  'b', 0,           // 3ffffb: strings
                 });
}

TEST_F(StackTest, Version0LeavesTheUpperHalvesOfWordsAlone)
{
    ASSERT_TRUE(mapping.clear().has_value());
    ASSERT_TRUE(memory.fill(top - 64, 64, std::byte{0xaa}).has_value());
    const Arguments arguments{"abc"};
    const auto built = build_stack(memory, narrow, arguments);
    ASSERT_TRUE(built.has_value());
    ASSERT_EQ(built->sp, top - 4 - 16);
    EXPECT_EQ(word(built->sp), 0xaaaaaaaa00000001);
    EXPECT_EQ(word(built->sp + 8), 0xaaaaaaaa003ffffc);
}

TEST_F(StackTest, GapBetweenWordsAndStringsIsNotWritten)
{
    ASSERT_TRUE(mapping.clear().has_value());
    ASSERT_TRUE(memory.fill(top - 64, 64, std::byte{0xaa}).has_value());
    const Arguments arguments{"abc"};
    const auto built = build_stack(memory, Version::v2, arguments);
    ASSERT_TRUE(built.has_value());
    ASSERT_EQ(built->sp, top - 32);
    EXPECT_EQ(word(built->sp + 16), 0U);
    EXPECT_EQ(memory.load<std::uint32_t>(built->sp + 24).value(), 0xaaaaaaaa);
}

TEST_F(StackTest, EmptyArgumentsAreSingleZeros)
{
    expect_stack(narrow, {"", ""}, top - 2 - 24,
                 {2, 0, 0, 0,    0,    0,    0, 0, 0xff, 0xff, 0x3f, 0, 0,
                  0, 0, 0, 0xfe, 0xff, 0x3f, 0, 0, 0,    0,    0,    0, 0});
    const auto built = stack(Version::v2, {"", ""});
    ASSERT_TRUE(built.has_value());
    EXPECT_EQ(built->sp, top - 48);
    EXPECT_EQ(word(built->sp + 8), top - 1);
    EXPECT_EQ(word(built->sp + 16), top - 2);
}

TEST_F(StackTest, ArgumentsWithZeroBytesAreCopiedVerbatim)
{
    using namespace std::string_view_literals;
    const auto built = stack(Version::v2, {"a\0b"sv});
    ASSERT_TRUE(built.has_value());
    EXPECT_EQ(memory.load<std::uint32_t>(word(built->sp + 8)).value(), 0x00620061U);
    EXPECT_EQ(word(built->sp + 8), top - 4);
}

TEST_F(StackTest, StackPointerIsAlignedForEveryCountAndLength)
{
    const std::string text(40, 'x');
    for (std::size_t count = 1; count < 6; ++count) {
        for (std::size_t length = 0; length < 40; ++length) {
            const Arguments arguments(count, std::string_view{text}.substr(0, length));
            const auto built = stack(Version::v2, arguments);
            ASSERT_TRUE(built.has_value());
            const std::uint64_t strings = top - count * (length + 1);
            ASSERT_EQ(built->sp % 16, 0U);
            ASSERT_LE(built->sp + 8 * (count + 2), strings);
            ASSERT_GT(built->sp + 8 * (count + 2) + 16, strings);
            ASSERT_EQ(word(built->sp), count);
            for (std::size_t i = 0; i < count; ++i)
                ASSERT_EQ(word(built->sp + 8 + 8 * i), top - (i + 1) * (length + 1));
            ASSERT_EQ(word(built->sp + 8 + 8 * count), 0U);
        }
    }
}

TEST_F(StackTest, StackMayFillItsRegionExactly)
{
    // Words: count, pointer, null (24 bytes); below them alignment.
    const std::string fits(region - 24 - 1, 'x');
    const auto built = stack(Version::v2, {fits});
    ASSERT_TRUE(built.has_value());
    EXPECT_EQ(built->bytes, region);
    expect_error(stack(Version::v2, {fits + 'x'}), ErrorCode::mem_out_of_stack, 0);

    const std::string narrow_fits(region - 16 - 1, 'x');
    const auto narrow_built = stack(narrow, {narrow_fits});
    ASSERT_TRUE(narrow_built.has_value());
    EXPECT_EQ(narrow_built->bytes, region);
    expect_error(stack(narrow, {narrow_fits + 'x'}), ErrorCode::mem_out_of_stack, 0);
}

TEST_F(StackTest, RegionIsCheckedAfterEverythingIsWritten)
{
    const std::string text(region, 'x');
    for (const Version version : {Version::v0, Version::v1, Version::v2}) {
        expect_error(stack(version, {text}), ErrorCode::mem_out_of_stack, 0);
        EXPECT_EQ(mapping.space().bytes[top - region - 1], 'x');
    }
}

TEST_F(StackTest, SingleArgumentLargerThanMemoryIsOutOfBound)
{
    const std::string text(top, 'x');
    for (const Version version : {Version::v0, Version::v1, Version::v2})
        expect_error(stack(version, {text}), ErrorCode::mem_out_of_bound, ~std::uint64_t{0});
}

TEST_F(StackTest, ArgumentThatCrossesAddressZeroReportsItsWrappedAddress)
{
    const std::string text(top - 101, 'x');
    expect_error(stack(Version::v2, {text, std::string(149, 'y')}), ErrorCode::mem_out_of_bound,
                 ~std::uint64_t{0} - 49);
    expect_error(stack(narrow, {text, std::string(149, 'y')}), ErrorCode::mem_out_of_bound,
                 ~std::uint64_t{0} - 49);
}

TEST_F(StackTest, EmptyArgumentBelowZeroReportsItsTerminator)
{
    const std::string text(top - 1, 'x');
    expect_error(stack(Version::v2, {text, ""}), ErrorCode::mem_out_of_bound, ~std::uint64_t{0});
}

TEST_F(StackTest, WordsThatCrossAddressZeroReportTheFailingStore)
{
    // The string begins at address 4: version 0 pushes the pointer first, later versions store the
    // count at the lowest address first.
    const std::string text(top - 5, 'x');
    expect_error(stack(narrow, {text}), ErrorCode::mem_out_of_bound, ~std::uint64_t{0} - 3);
    expect_error(stack(Version::v2, {text}), ErrorCode::mem_out_of_bound, ~std::uint64_t{0} - 31);

    // At address 12 version 0 still has room for the pointer, not for the count.
    const std::string shorter(top - 13, 'x');
    expect_error(stack(narrow, {shorter}), ErrorCode::mem_out_of_bound, ~std::uint64_t{0} - 3);
}

TEST_F(StackTest, ExecutablePageInTheWayRefusesTheStore)
{
    const std::uint64_t last = top / page_size - 1;
    for (const Version version : {Version::v0, Version::v1, Version::v2}) {
        ASSERT_TRUE(mapping.clear().has_value());
        make_executable(last);
        const Arguments arguments{"a"};
        expect_error(build_stack(memory, version, arguments),
                     ErrorCode::mem_write_on_executable_page, last);

        // The string fits on the last page, the words reach the page below.
        ASSERT_TRUE(mapping.clear().has_value());
        make_executable(last - 1);
        const std::string text(page_size - 1, 'x');
        const Arguments long_argument{text};
        expect_error(build_stack(memory, version, long_argument),
                     ErrorCode::mem_write_on_executable_page, last - 1);
        EXPECT_EQ(mapping.space().bytes[top - page_size], 'x');
    }
}

TEST_F(StackTest, WithoutArgumentsOnlyVersion0NeedsAWritablePage)
{
    const std::uint64_t last = top / page_size - 1;
    ASSERT_TRUE(mapping.clear().has_value());
    make_executable(last);
    EXPECT_TRUE(build_stack(memory, Version::v2, {}).has_value());
    expect_error(build_stack(memory, narrow, {}), ErrorCode::mem_write_on_executable_page, last);
}

TEST_F(StackTest, TwoHundredThousandArgumentsFitLargeMemory)
{
    constexpr std::size_t count = 200000;
    auto large = Mapping::create(std::uint64_t{64} << 20, Version::v2);
    ASSERT_TRUE(large.has_value());
    Memory view{large->space()};
    const Arguments arguments(count, "arg");
    for (const Version version : {Version::v0, Version::v2}) {
        const auto built = build_stack(view, version, arguments);
        ASSERT_TRUE(built.has_value());
        EXPECT_EQ(view.load<std::uint32_t>(built->sp).value(), count);
        EXPECT_EQ(view.load<std::uint32_t>(built->sp + 8 * count).value(), view.size() - 4 * count);
    }
}
}  // namespace
}  // namespace mopvm
