// SPDX-License-Identifier: MIT
// What a guest must never see is noise in builds with MOPVM_NOISE, and what it may see is zero in
// every build.

#include "support/noise.hpp"
#include "code/code_view.hpp"
#include "code/storage.hpp"
#include "memory/mapping.hpp"
#include "semantics/state.hpp"
#include "support/guest.hpp"
#include "support/poison.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <utility>
#include <vector>

namespace mopvm::test
{
namespace
{
using memory::Mapping;
using support::noise;

/// No kept mapping has it unless a test gave it back, so that the first one comes from the host.
constexpr std::uint64_t odd_size = 7 * memory_size_unit;

Mapping make_mapping()
{
    return std::move(Mapping::create(odd_size, Version::v2).value());
}

std::size_t count_not_zero(const memory::Space& space)
{
    const auto is_zero = [](std::uint8_t byte) { return byte == 0; };
    return space.size -
           static_cast<std::size_t>(std::count_if(space.bytes, space.bytes + space.size, is_zero));
}

TEST(Noise, is_nowhere_zero_and_differs_each_time)
{
    std::array<std::uint8_t, 100> first{};
    std::array<std::uint8_t, 100> second{};
    for (int i = 0; i < 300; ++i) {
        support::fill_with_noise(first.data(), first.size());
        support::fill_with_noise(second.data(), second.size());
        ASSERT_EQ(std::ranges::count(first, 0) == 0, noise);
        ASSERT_EQ(first != second, noise);
    }
}

TEST(Noise, is_in_what_decoded_code_does_not_use)
{
    for (int i = 0; i < 3; ++i) {
        code::Storage storage;
        constexpr std::size_t bytes = 1000;
        std::byte* const place = storage.reserve(bytes);
        if (noise) {
            EXPECT_EQ(std::count(place, place + bytes, std::byte{0}), 0);
        }
        std::memset(place, 0, bytes);
        storage.commit(bytes);
    }
}

TEST(Noise, is_in_spare_slots)
{
    EXPECT_EQ(semantics::State{}.discarded, support::spare_word);
    EXPECT_EQ(support::spare_word != 0, noise);
    code::TargetCache targets;
    for (int i = 0; i < 2; ++i) {
        for (const auto& entry : targets.entries) {
            ASSERT_EQ(entry.pc, code::TargetCache::no_target);
            ASSERT_EQ(entry.block, support::spare_pointer<const code::Block>());
        }
        targets.entries.fill({.pc = 2, .block = nullptr});
        targets.clear();
    }
}

TEST(Noise, is_not_in_memory_that_the_host_has_just_given)
{
    std::vector<Mapping> mappings;
    // More than are kept, so that some are new.
    for (std::uint64_t bytes = 0; bytes <= Mapping::max_kept_bytes; bytes += odd_size) {
        mappings.push_back(make_mapping());
        EXPECT_EQ(count_not_zero(mappings.back().space()), 0U);
    }
}

TEST(Noise, is_not_in_memory_that_was_used_before)
{
    const std::uint8_t* base = nullptr;
    for (int round = 0; round < 3; ++round) {
        Mapping mapping = make_mapping();
        memory::Space& space = mapping.space();
        if (base != nullptr) {
            ASSERT_EQ(space.bytes, base) << "the test is void unless the memory is used again";
        }
        base = space.bytes;
        ASSERT_EQ(count_not_zero(space), 0U);
        Memory memory{space};
        for (std::uint64_t page = 0; page < space.page_count(); page += 1 + page % 3)
            ASSERT_TRUE(memory.fill(page * page_size + 17, 1, std::byte{1}));
        ASSERT_TRUE(mapping.clear());
        ASSERT_EQ(count_not_zero(space), 0U);
        ASSERT_TRUE(memory.fill(0, space.size, std::byte{1}));
    }
}

#if defined(MOPVM_POISON)
TEST(Poison, is_in_decoded_code_that_is_free)
{
    std::byte* place = nullptr;
    {
        code::Storage storage;
        constexpr std::size_t bytes = 100;
        place = storage.reserve(2 * bytes);
        EXPECT_EQ(__asan_region_is_poisoned(place, 2 * bytes), nullptr);
        EXPECT_NE(__asan_region_is_poisoned(place, 2 * bytes + 1), nullptr);
        storage.commit(bytes);
        EXPECT_EQ(__asan_region_is_poisoned(place, bytes), nullptr);
        EXPECT_EQ(__asan_region_is_poisoned(place, 2 * bytes), place + bytes);
    }
    EXPECT_NE(__asan_address_is_poisoned(place), 0) << "a kept chunk";
}

TEST(Poison, is_in_memory_of_destroyed_machines)
{
    const std::uint8_t* base = nullptr;
    {
        Mapping mapping = make_mapping();
        memory::Space& space = mapping.space();
        base = space.bytes;
        std::uint8_t* const end = space.flags + space.page_count();
        EXPECT_EQ(__asan_region_is_poisoned(space.bytes, space.size + space.page_count()), nullptr);
        EXPECT_NE(__asan_address_is_poisoned(end), 0);
    }
    EXPECT_NE(__asan_address_is_poisoned(base), 0);
}
#endif

/// A guest that ends with 0 if all of its memory reads as zero but for pages of its program.
Program zero_checker()
{
    Assembler code;
    const auto loop = code.label();
    const auto next = code.label();
    const auto bad = code.label();
    // Behind the code and its data; without arguments the stack is empty.
    code.li(s0, data_address);
    code.li(s1, default_memory_size - 8);
    code.bind(loop);
    code.ld(t0, 0, s0);
    code.bnez(t0, bad);
    code.addi(s0, s0, 8);
    code.bltu(s0, s1, loop);
    // And leave something everywhere for whoever is next.
    code.li(s0, data_address);
    code.li(t0, ~std::uint64_t{0});
    code.bind(next);
    code.sd(t0, 0, s0);
    code.addi(s0, s0, 8);
    code.bltu(s0, s1, next);
    code.exit(0);
    code.bind(bad);
    code.exit(1);
    return Program::from_elf(build(program(code))).value();
}

class NoiseGuest : public EveryConfig
{};

TEST_P(NoiseGuest, sees_zeros_on_fresh_and_on_used_memory)
{
    const Program program = zero_checker();
    for (int round = 0; round < 3; ++round) {
        Machine machine = Machine::create(config()).value();
        for (int reset = 0; reset < 2; ++reset) {
            ASSERT_TRUE(machine.load(program));
            const Exit exit = machine.run();
            ASSERT_EQ(name(exit.reason), "exited") << message(exit.error);
            ASSERT_EQ(exit.exit_code, 0);
            ASSERT_TRUE(machine.reset(config().max_cycles));
        }
    }
}

MOPVM_ALL_CONFIGS(NoiseGuest);
}  // namespace
}  // namespace mopvm::test
