// SPDX-License-Identifier: MIT
// Memory for decoded code: aligned, zero where it is asked to be, and used again.

#include "code/storage.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <set>
#include <thread>
#include <utility>
#include <vector>

namespace mopvm::test
{
namespace
{
using code::Storage;

constexpr std::size_t largest = Storage::chunk_bytes - Storage::alignment;

std::byte* allocate(Storage& storage, std::size_t bytes)
{
    std::byte* const place = storage.reserve(bytes);
    storage.commit(bytes);
    return place;
}

TEST(CodeStorage, gives_aligned_places_that_do_not_overlap)
{
    Storage storage;
    std::vector<std::pair<std::uintptr_t, std::size_t>> places;
    for (std::size_t i = 0; i < 400; ++i) {
        const std::size_t bytes = 1 + i * 7919 % largest;
        std::byte* const place = allocate(storage, bytes);
        std::memset(place, 0xa5, bytes);
        places.emplace_back(reinterpret_cast<std::uintptr_t>(place), bytes);
    }
    std::ranges::sort(places);
    for (std::size_t i = 0; i < places.size(); ++i) {
        EXPECT_EQ(places[i].first % Storage::alignment, 0U);
        EXPECT_TRUE(i == 0 || places[i - 1].first + places[i - 1].second <= places[i].first);
    }
}

TEST(CodeStorage, gives_all_of_a_chunk_at_once)
{
    Storage storage;
    for (int i = 0; i < 3; ++i) {
        std::memset(allocate(storage, largest), 0xa5, largest);
        std::memset(allocate(storage, 1), 0x5a, 1);
    }
}

TEST(CodeStorage, counts_what_it_gave)
{
    Storage storage;
    EXPECT_EQ(storage.used(), 0U);
    static_cast<void>(allocate(storage, 1));
    EXPECT_EQ(storage.used(), Storage::alignment);
    static_cast<void>(allocate(storage, Storage::alignment));
    EXPECT_EQ(storage.used(), 2 * Storage::alignment);
    static_cast<void>(allocate(storage, largest));
    EXPECT_EQ(storage.used(), 2 * Storage::alignment + largest);
}

TEST(CodeStorage, takes_no_more_than_is_committed)
{
    Storage storage;
    std::byte* const first = storage.reserve(1'000);
    EXPECT_EQ(storage.reserve(500), first);
    storage.commit(3 * Storage::alignment - 1);
    EXPECT_EQ(storage.used(), 3 * Storage::alignment);
    EXPECT_EQ(storage.reserve(500), first + 3 * Storage::alignment);
}

using Numbers = std::array<std::uint64_t, 100>;

/// Addresses of @p count arrays from a storage that is destroyed at once, all of them zero first.
std::set<const void*> addresses_of(std::size_t count)
{
    Storage storage;
    std::set<const void*> addresses;
    for (std::size_t i = 0; i < count; ++i) {
        auto* const numbers = storage.make<Numbers>();
        EXPECT_EQ(std::ranges::count(*numbers, 0U), std::ssize(*numbers));
        numbers->fill(~std::uint64_t{i});
        addresses.insert(numbers);
    }
    return addresses;
}

TEST(CodeStorage, is_zero_where_it_was_used_before)
{
    const auto before = addresses_of(200);
    EXPECT_EQ(addresses_of(200), before) << "nothing was used again";
}

TEST(CodeStorage, may_be_used_by_any_number_of_threads)
{
    std::vector<std::jthread> threads;
    for (int i = 0; i < 4; ++i)
        threads.emplace_back([] {
            for (std::size_t repeats = 0; repeats < 50; ++repeats)
                static_cast<void>(addresses_of(60 + repeats));
        });
}

TEST(CodeStorage, keeps_no_more_than_it_says)
{
    // More than is kept: it must come and go.
    constexpr std::size_t count = 2 * Storage::max_kept_bytes / sizeof(Numbers);
    EXPECT_EQ(addresses_of(count).size(), count);
    EXPECT_EQ(addresses_of(count).size(), count);
}
}  // namespace
}  // namespace mopvm::test
