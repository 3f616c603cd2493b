// SPDX-License-Identifier: MIT
// Segments that overlap: loading them leaves what placing one after another leaves, and takes time
// for memory once.

#include "elf/loader.hpp"
#include "elf/range_set.hpp"
#include "memory/mapping.hpp"
#include "support/elf_builder.hpp"

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <bitset>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <random>
#include <span>
#include <utility>
#include <vector>

namespace mopvm
{
namespace
{
using elf::RangeSet;
using memory::Mapping;
using memory::Space;
using test::ElfFile;

namespace flag = test::elf_flag;

constexpr std::uint64_t size = min_memory_size;
constexpr std::uint64_t pages = size / page_size;
constexpr std::uint64_t max_value = std::numeric_limits<std::uint64_t>::max();

Mapping make_mapping(std::uint64_t bytes, Version version)
{
    return std::move(Mapping::create(bytes, version)).value();
}

/// The rule of docs/elf.md: one segment after another, whatever the next ones do.
Result<void> load_plainly(const elf::Image& image,
                          std::span<const std::byte> file,
                          Space& space,
                          Version version)
{
    Memory memory{space};
    for (const Segment& segment : image.segments) {
        std::uint8_t flags = page_flag::frozen;
        if ((segment.elf_flags & flag::execute) != 0)
            flags |= page_flag::executable;
        else if ((segment.elf_flags & flag::write) != 0 && version != Version::v0)
            flags = 0;
        auto done = memory.init_pages(segment.address, segment.size, flags,
                                      file.subspan(segment.file_offset, segment.file_size),
                                      segment.padding);
        if (done && version == Version::v0)
            done = memory.fill(segment.address, segment.padding, std::byte{0});
        if (!done)
            return done;
    }
    return {};
}

class RandomFiles
{
public:
    explicit RandomFiles(std::uint32_t seed) : m_random{seed} {}

    std::uint64_t below(std::uint64_t bound) { return m_random() % bound; }

    /// Up to @p most segments, most of them writable and many on top of each other.
    ElfFile file(std::uint64_t most)
    {
        ElfFile elf;
        for (std::uint64_t count = below(most + 1); count > 0; --count) {
            test::ElfSegment segment;
            segment.vaddr = below(pages) * page_size + (below(2) == 0 ? 0 : below(page_size));
            constexpr std::array kinds{flag::code, flag::read};
            segment.flags = below(16) == 0 ? kinds[below(2)] : flag::data;
            segment.bytes = std::vector<std::byte>(below(3) == 0 ? 0 : below(9 * page_size),
                                                   static_cast<std::byte>(1 + below(255)));
            const std::uint64_t left = size - segment.vaddr;
            segment.memsz = below(left + 1);
            if (below(40) == 0)
                segment.memsz = left + below(2 * page_size);  // perhaps beyond memory
            if (below(40) == 0)
                segment.memsz = max_value - below(2 * page_size);  // wraps
            elf.segments.push_back(std::move(segment));
        }
        return elf;
    }

    /// What a host may have done to @p space before it loads.
    void use(Space& space)
    {
        Memory memory{space};
        for (std::uint64_t count = below(4); count > 0; --count) {
            constexpr std::array<std::uint8_t, 4> flags{0, 0, page_flag::executable,
                                                        page_flag::frozen};
            const std::uint64_t page = below(pages);
            static_cast<void>(memory.init_pages(page * page_size, page_size, flags[below(4)],
                                                test::pattern(below(page_size)), 0));
        }
    }

private:
    std::mt19937 m_random;
};

struct Loaded
{
    Result<void> result;
    std::vector<std::uint8_t> bytes;
    std::vector<std::uint8_t> flags;
    bool code_changed = false;
};

template <typename Load>
Loaded load_into(Mapping& mapping, const Load& load)
{
    const Space& space = mapping.space();
    const std::uint64_t epoch = space.code_epoch;
    auto result = load(mapping.space());
    return {.result = std::move(result),
            .bytes = {space.bytes, space.bytes + space.size},
            .flags = {space.flags, space.flags + space.page_count()},
            .code_changed = space.code_epoch != epoch};
}

TEST(ElfOverlap, leaves_what_one_after_another_leaves)
{
    constexpr std::uint32_t seed = 20250131;
    std::size_t refused = 0;
    std::size_t overlapping = 0;
    for (std::uint32_t round = 0; round < 2000; ++round) {
        SCOPED_TRACE(::testing::Message() << "seed " << seed << " round " << round);
        const Version version = round % 8 == 0 ? Version::v0 : Version::v2;
        RandomFiles random{seed + round};
        const auto file = test::build(random.file(14));
        const auto image = elf::parse(file);
        ASSERT_TRUE(image);
        Mapping first = make_mapping(size, version);
        Mapping second = make_mapping(size, version);
        if (round % 4 == 0) {
            RandomFiles used = random;
            random.use(first.space());
            used.use(second.space());
        }
        const Loaded made =
            load_into(first, [&](Space& space) { return elf::load(*image, file, space, version); });
        const Loaded expected = load_into(
            second, [&](Space& space) { return load_plainly(*image, file, space, version); });
        ASSERT_EQ(made.result.has_value(), expected.result.has_value());
        if (!made.result) {
            EXPECT_EQ(made.result.error(), expected.result.error());
            ++refused;
        }
        ASSERT_TRUE(made.bytes == expected.bytes);
        ASSERT_EQ(made.flags, expected.flags);
        ASSERT_EQ(made.code_changed, expected.code_changed);
        std::uint64_t all = 0;
        for (const Segment& segment : image->segments)
            all += std::min(segment.size, size);
        overlapping += all > size ? 1 : 0;
    }
    EXPECT_GT(refused, 300U);
    EXPECT_GT(overlapping, 1000U);
}

#if !defined(MOPVM_NOISE)  // which writes all of memory when it is mapped
/// Pages of @p space that the host has backed.
std::size_t touched_pages(const Space& space)
{
    std::vector<unsigned char> resident(space.page_count());
    EXPECT_EQ(::mincore(space.bytes, space.size, resident.data()), 0);
    return static_cast<std::size_t>(
        std::ranges::count_if(resident, [](unsigned char page) { return (page & 1) != 0; }));
}

TEST(ElfOverlap, touches_no_page_in_order_to_wipe_what_was_not_placed)
{
    // Too large to be kept, so it is fresh.
    constexpr std::uint64_t large = Mapping::max_kept_bytes + memory_size_unit;
    const auto file = test::build(
        {.segments = {{.flags = flag::data, .bytes = test::pattern(page_size), .memsz = large / 2},
                      {.flags = flag::data, .memsz = large / 2},
                      {.flags = flag::data, .memsz = large / 2}}});
    Mapping mapping = make_mapping(large, Version::v2);
    ASSERT_TRUE(elf::load(elf::parse(file).value(), file, mapping.space(), Version::v2));
    EXPECT_EQ(touched_pages(mapping.space()), 0U);
}
#endif

/// One after another this takes hours, and ends by the time limit of the tests.
TEST(ElfOverlap, of_the_most_headers_is_loaded_in_a_moment)
{
    constexpr std::size_t most = std::numeric_limits<std::uint16_t>::max();
    const auto bytes = test::pattern(page_size);
    ElfFile elf;
    elf.segments.assign(most, {.vaddr = 0, .flags = flag::data, .memsz = max_memory_size});
    elf.segments.back().bytes = bytes;
    const auto file = test::build(elf);
    Mapping mapping = make_mapping(max_memory_size, Version::v2);
    ASSERT_TRUE(elf::load(elf::parse(file).value(), file, mapping.space(), Version::v2));
    const Space& space = mapping.space();
    EXPECT_EQ(std::memcmp(space.bytes, bytes.data(), bytes.size()), 0);
    EXPECT_EQ(std::count(space.flags, space.flags + space.page_count(), page_flag::dirty),
              static_cast<std::ptrdiff_t>(space.page_count()));
}

TEST(RangeSet, is_the_set_of_what_was_added)
{
    constexpr std::uint32_t seed = 99;
    constexpr std::uint64_t bound = 64;
    std::mt19937 random{seed};
    for (int round = 0; round < 2000; ++round) {
        SCOPED_TRACE(::testing::Message() << "seed " << seed << " round " << round);
        RangeSet set;
        std::bitset<bound> model;
        for (int step = 0; step < 20; ++step) {
            const std::uint64_t begin = random() % bound;
            const std::uint64_t end = begin + random() % std::min<std::uint64_t>(bound - begin, 12);
            bool meets = false;
            for (std::uint64_t i = begin; i < end; ++i)
                meets = meets || model[i];
            ASSERT_EQ(set.meets(begin, end), meets);
            if (begin == end)
                continue;
            std::uint64_t reached = begin;
            set.add(begin, end, [&](std::uint64_t from, std::uint64_t to) {
                ASSERT_LT(from, to);
                for (std::uint64_t i = reached; i < from; ++i)
                    EXPECT_TRUE(model[i]);
                for (std::uint64_t i = from; i < to; ++i)
                    EXPECT_FALSE(model[i]);
                reached = to;
            });
            for (std::uint64_t i = begin; i < end; ++i) {
                EXPECT_TRUE(i < reached || model[i]);
                model[i] = true;
            }
        }
    }
}
}  // namespace
}  // namespace mopvm
