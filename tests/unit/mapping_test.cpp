// SPDX-License-Identifier: MIT
// The mapping behind guest memory: fresh, cleared, recycled and moved.

#include "memory/mapping.hpp"

#include <mopvm/memory.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <random>
#include <string>
#include <thread>
#include <type_traits>
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

bool all_zero(const Space& space)
{
    const auto is_zero = [](std::uint8_t byte) { return byte == 0; };
    return std::all_of(space.bytes, space.bytes + space.size, is_zero) &&
           std::all_of(space.flags, space.flags + space.page_count(), is_zero);
}

/// The rules in their shortest form, over plain vectors.
struct Model
{
    std::vector<std::uint8_t> bytes = std::vector<std::uint8_t>(size);
    std::vector<std::uint8_t> flags = std::vector<std::uint8_t>(size / page_size);

    bool init(std::uint64_t page,
              std::uint64_t pages,
              std::uint8_t with,
              const std::vector<std::byte>& source,
              std::uint64_t offset)
    {
        for (std::uint64_t i = page; i < page + pages; ++i)
            if ((flags[i] & page_flag::frozen) != 0)
                return false;
        for (std::uint64_t i = 0; i < pages * page_size; ++i) {
            const bool copied = i >= offset && i - offset < source.size();
            bytes[page * page_size + i] =
                copied ? std::to_integer<std::uint8_t>(source[i - offset]) : std::uint8_t{0};
        }
        for (std::uint64_t i = page; i < page + pages; ++i)
            flags[i] |= static_cast<std::uint8_t>(with | page_flag::dirty);
        return true;
    }

    bool write(std::uint64_t address, const std::vector<std::byte>& source)
    {
        for (std::uint64_t i = address / page_size; i <= (address + source.size() - 1) / page_size;
             ++i)
        {
            if ((flags[i] & page_flag::executable) != 0)
                return false;
            flags[i] |= page_flag::dirty;
        }
        for (std::uint64_t i = 0; i < source.size(); ++i)
            bytes[address + i] = std::to_integer<std::uint8_t>(source[i]);
        return true;
    }
};

TEST(MemoryModel, RandomSequencesMatchTheRulesOnFreshAndRecycledMemory)
{
    constexpr std::uint32_t seed = 20240817;
    std::mt19937 random{seed};
    const auto below = [&](std::uint64_t bound) { return random() % bound; };
    for (int round = 0; round < 60; ++round) {
        SCOPED_TRACE(::testing::Message() << "seed " << seed << " round " << round);
        Mapping mapping = make_mapping();
        ASSERT_TRUE(all_zero(mapping.space()));
        Memory memory{mapping.space()};
        Model model;
        for (int step = 0; step < 40; ++step) {
            const auto source =
                bytes_of(1 + below(3 * page_size), static_cast<std::uint8_t>(1 + below(255)));
            if (below(3) == 0) {
                const std::uint64_t page = below(last_page - 3);
                const std::uint64_t pages = 1 + below(3);
                const std::uint64_t offset = below(pages * page_size);
                const std::uint8_t with = below(6) == 0 ? code_flags : std::uint8_t{0};
                const bool done =
                    memory.init_pages(page * page_size, pages * page_size, with, source, offset)
                        .has_value();
                ASSERT_EQ(done, model.init(page, pages, with, source, offset));
            } else {
                const std::uint64_t address = below(size - source.size());
                ASSERT_EQ(memory.write(address, source).has_value(), model.write(address, source));
            }
        }
        const Space& space = mapping.space();
        ASSERT_TRUE(std::equal(model.bytes.begin(), model.bytes.end(), space.bytes));
        ASSERT_TRUE(std::equal(model.flags.begin(), model.flags.end(), space.flags));
    }
}

// The mapping.

TEST(MemoryMapping, AcceptsEveryAllowedSizeUpToOneGibibyte)
{
    for (const std::uint64_t bytes : {min_memory_size, min_memory_size + memory_size_unit,
                                      default_memory_size, max_memory_size})
    {
        Mapping mapping = make_mapping(Version::v2, bytes);
        const Space& space = mapping.space();
        EXPECT_EQ(space.size, bytes);
        EXPECT_EQ(space.load_end, bytes);
        EXPECT_EQ(space.code_epoch, 0U);
        EXPECT_EQ(space.bytes[0], 0);
        EXPECT_EQ(space.bytes[bytes - 1], 0);
        EXPECT_EQ(space.flags[0], 0);
        EXPECT_EQ(space.flags[space.page_count() - 1], 0);
    }
}

TEST(MemoryMapping, RefusesOtherSizesAndSaysWhich)
{
    for (const std::uint64_t bytes :
         {std::uint64_t{0}, page_size, min_memory_size - 1, min_memory_size + page_size,
          max_memory_size + memory_size_unit, max_address, std::uint64_t{1} << 63})
    {
        const auto mapping = Mapping::create(bytes, Version::v2);
        ASSERT_FALSE(mapping.has_value());
        EXPECT_EQ(mapping.error().code, ErrorCode::invalid_config);
        EXPECT_NE(mapping.error().text.find(std::to_string(bytes)), std::string::npos);
    }
}

TEST(MemoryMapping, LoadEndIsOneLessInVersion0)
{
    EXPECT_EQ(make_mapping(Version::v0).space().load_end, size - 1);
    EXPECT_EQ(make_mapping(Version::v1).space().load_end, size);
    EXPECT_EQ(make_mapping(Version::v2).space().load_end, size);
}

void scribble(Space& space)
{
    Memory memory{space};
    Fault fault;
    ASSERT_TRUE(memory.fill(0, space.size / 2, std::byte{0xaa}).has_value());
    ASSERT_TRUE(space.store(space.size - 1, std::uint8_t{1}, fault));
    ASSERT_TRUE(
        memory.init_pages(space.size / 2, page_size, code_flags, bytes_of(page_size, 1), 0));
}

TEST(MemoryMapping, ClearGivesFreshMemory)
{
    Mapping mapping = make_mapping();
    scribble(mapping.space());
    ASSERT_TRUE(mapping.clear().has_value());
    EXPECT_TRUE(all_zero(mapping.space()));
    EXPECT_EQ(mapping.space().code_epoch, 0U);
    EXPECT_EQ(mapping.space().size, size);
}

TEST(MemoryMapping, MemoryOfDestroyedMachinesComesBackZeroed)
{
    const std::uint8_t* base = nullptr;
    {
        Mapping mapping = make_mapping();
        base = mapping.space().bytes;
        scribble(mapping.space());
    }
    Mapping other_size = make_mapping(Version::v2, 2 * size);
    Mapping mapping = make_mapping(Version::v0);
    EXPECT_EQ(mapping.space().bytes, base) << "the test is void unless the memory is used again";
    EXPECT_TRUE(all_zero(mapping.space()));
    EXPECT_EQ(mapping.space().code_epoch, 0U);
    EXPECT_EQ(mapping.space().load_end, size - 1);
    EXPECT_NE(other_size.space().bytes, base);
}

TEST(MemoryMapping, LiveMappingsDoNotShareMemory)
{
    std::vector<Mapping> mappings;
    for (int i = 0; i < 300; ++i)
        mappings.push_back(make_mapping());
    for (std::size_t i = 0; i < mappings.size(); ++i)
        ASSERT_TRUE(Memory{mappings[i].space()}.store(size - 8, std::uint64_t{i}).has_value());
    for (std::size_t i = 0; i < mappings.size(); ++i)
        ASSERT_EQ(Memory{mappings[i].space()}.load<std::uint64_t>(size - 8).value(), i);
    // More than is kept: the oldest go back to the host.
    mappings.clear();
    for (int i = 0; i < 300; ++i)
        ASSERT_TRUE(all_zero(mappings.emplace_back(make_mapping()).space()));
}

TEST(MemoryMapping, KeepsMappingsOfManySizes)
{
    for (int round = 0; round < 3; ++round) {
        std::vector<Mapping> mappings;
        for (const std::uint64_t megabytes : {1U, 63U, 64U, 65U, 4U, 2U}) {
            Mapping& mapping = mappings.emplace_back(make_mapping(Version::v2, megabytes << 20));
            ASSERT_EQ(mapping.space().bytes[0], 0);
            ASSERT_TRUE(Memory{mapping.space()}.store(0, std::uint8_t{1}).has_value());
        }
    }
}

TEST(MemoryMapping, MoveLeavesTheSourceEmpty)
{
    Mapping first = make_mapping();
    const std::uint8_t* const base = first.space().bytes;
    Mapping second{std::move(first)};
    EXPECT_EQ(second.space().bytes, base);
    EXPECT_EQ(first.space().size, 0U);  // NOLINT(bugprone-use-after-move)
    EXPECT_EQ(first.space().bytes, nullptr);

    Mapping third = make_mapping();
    third = std::move(second);
    EXPECT_EQ(third.space().bytes, base);
    EXPECT_EQ(second.space().bytes, nullptr);  // NOLINT(bugprone-use-after-move)

    Mapping& alias = third;
    third = std::move(alias);
    EXPECT_EQ(third.space().bytes, base);

    static_assert(!std::is_copy_constructible_v<Mapping>);
    static_assert(std::is_nothrow_move_constructible_v<Mapping>);
    static_assert(std::is_nothrow_move_assignable_v<Mapping>);
}

TEST(MemoryMapping, ManyThreadsMakeAndDestroyMappings)
{
    std::array<bool, 4> ok{};
    {
        std::vector<std::jthread> threads;
        for (std::size_t id = 0; id < ok.size(); ++id) {
            threads.emplace_back([&, id] {
                bool good = true;
                for (std::uint64_t round = 0; round < 500; ++round) {
                    auto mapping = Mapping::create(size, Version::v2);
                    Memory memory{mapping->space()};
                    const std::uint64_t at = (round * 7 + id) % last_page * page_size;
                    good = good && memory.load<std::uint64_t>(at).value() == 0 &&
                           memory.store(at, std::uint64_t{id + 1}).has_value() &&
                           memory.load<std::uint64_t>(at).value() == id + 1;
                }
                ok[id] = good;
            });
        }
    }
    for (const bool good : ok)
        EXPECT_TRUE(good);
}

TEST(MemoryMapping, BackingPagesChangesNothing)
{
    Mapping mapping = make_mapping();
    Space cold = mapping.space();
    cold.cold = true;
    cold.bytes[page_size] = 9;
    cold.flags[1] = page_flag::dirty;
    memory::back_pages(cold, 0, 4 * page_size);
    memory::back_pages(cold, page_size, 1);
    EXPECT_EQ(cold.bytes[page_size], 9);
    EXPECT_EQ(cold.bytes[2 * page_size], 0);
    EXPECT_EQ(cold.flags[0], 0);
}
}  // namespace
}  // namespace mopvm
