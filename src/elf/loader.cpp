// SPDX-License-Identifier: MIT
/// @file
/// Placing a program's segments in guest memory.

#include "elf/loader.hpp"

#include "elf/range_set.hpp"

#include <algorithm>
#include <cassert>
#include <new>
#include <ranges>

namespace mopvm::elf
{
namespace
{
/// Version 0 freezes what the program may write, too.
std::uint8_t page_flags(std::uint32_t elf_flags, Version version) noexcept
{
    if ((elf_flags & segment_flag::execute) != 0)
        return page_flag::executable | page_flag::frozen;
    if ((elf_flags & segment_flag::write) != 0 && version != Version::v0)
        return 0;
    return page_flag::frozen;
}

/// Segments, in table order, on their way to memory.
class Placement
{
public:
    Placement(std::span<const std::byte> file, memory::Space& space, Version version) noexcept
        : m_file{file}, m_space{space}, m_version{version}
    {}

    /// One after another: the rule. Stops at the first that is refused.
    [[nodiscard]] Result<void> in_turn(std::span<const Segment> segments) noexcept;

    /// The same from version 1 on, touching no page twice. @throws std::bad_alloc
    [[nodiscard]] Result<void> visible_parts(std::span<const Segment> segments);

private:
    [[nodiscard]] Result<void> place(const Segment& segment) noexcept;
    void place_part(const Segment& segment, std::uint64_t begin, std::uint64_t end) noexcept;
    [[nodiscard]] std::size_t accepted(std::span<const Segment> segments) const;
    [[nodiscard]] RangeSet frozen_pages() const;

    std::span<const std::byte> m_file;
    memory::Space& m_space;
    Version m_version;
};

Result<void> Placement::in_turn(std::span<const Segment> segments) noexcept
{
    for (const Segment& segment : segments) {
        if (auto placed = place(segment); !placed)
            return placed;
    }
    return {};
}

Result<void> Placement::place(const Segment& segment) noexcept
{
    Memory memory{m_space};
    auto done =
        memory.init_pages(segment.address, segment.size, page_flags(segment.elf_flags, m_version),
                          m_file.subspan(segment.file_offset, segment.file_size), segment.padding);
    // Version 0 zeroes the padding once more by an ordinary store, which code pages refuse.
    if (done && m_version == Version::v0)
        done = memory.fill(segment.address, segment.padding, std::byte{0});
    return done;
}

/// What a page holds in the end is of the last segment on it, its flags too: those before it are
/// writable, which adds no flag from version 1 on, or it would have been refused.
Result<void> Placement::visible_parts(std::span<const Segment> segments)
{
    const std::size_t count = accepted(segments);
    RangeSet placed;
    for (const Segment& segment : segments.first(count) | std::views::reverse) {
        if (segment.size != 0) {
            placed.add(
                segment.address, segment.address + segment.size,
                [&](std::uint64_t begin, std::uint64_t end) { place_part(segment, begin, end); });
        }
    }
    return in_turn(segments.subspan(count));
}

/// Places the pages of @p segment from @p begin to @p end, which are not frozen.
void Placement::place_part(const Segment& segment, std::uint64_t begin, std::uint64_t end) noexcept
{
    const std::uint64_t bytes_begin = segment.address + segment.padding;
    const std::uint64_t bytes_end =
        bytes_begin + std::min(segment.file_size, segment.size - segment.padding);
    const std::uint64_t from = std::clamp(bytes_begin, begin, end);
    const std::uint64_t to = std::clamp(bytes_end, begin, end);
    const auto source = from < to
                            ? m_file.subspan(segment.file_offset + (from - bytes_begin), to - from)
                            : std::span<const std::byte>{};
    [[maybe_unused]] const auto done = Memory{m_space}.init_pages(
        begin, end - begin, page_flags(segment.elf_flags, m_version), source, from - begin);
    assert(done);
}

/// How many of @p segments come before the first that is refused.
std::size_t Placement::accepted(std::span<const Segment> segments) const
{
    RangeSet frozen = frozen_pages();
    std::size_t count = 0;
    for (const Segment& segment : segments) {
        const bool in_memory =
            segment.address <= m_space.size && segment.size <= m_space.size - segment.address;
        const std::uint64_t end = segment.address + segment.size;
        if (!in_memory || segment.padding > segment.size || frozen.meets(segment.address, end))
            break;
        if (segment.size != 0 &&
            (page_flags(segment.elf_flags, m_version) & page_flag::frozen) != 0)
            frozen.add(segment.address, end);
        ++count;
    }
    return count;
}

/// The pages that are frozen before anything is loaded.
RangeSet Placement::frozen_pages() const
{
    RangeSet frozen;
    for (std::uint64_t page = 0; page < m_space.page_count(); ++page) {
        if ((m_space.flags[page] & page_flag::frozen) != 0)
            frozen.add(page * page_size, (page + 1) * page_size);
    }
    return frozen;
}

/// True when all of @p segments together are no larger than @p size.
bool fit(std::span<const Segment> segments, std::uint64_t size) noexcept
{
    for (const Segment& segment : segments) {
        if (segment.size > size)
            return false;
        size -= segment.size;
    }
    return true;
}
}  // namespace

/// Placing each segment takes time in proportion to its size. Only from version 1 on can they be
/// larger than memory together and not be refused: then parts of them are never seen.
Result<void> load(const Image& image,
                  std::span<const std::byte> file,
                  memory::Space& space,
                  Version version) noexcept
try {
    Placement placement{file, space, version};
    if (version == Version::v0 || fit(image.segments, space.size))
        return placement.in_turn(image.segments);
    return placement.visible_parts(image.segments);
} catch (const std::bad_alloc&) {
    return std::unexpected{Error{.code = ErrorCode::out_of_memory}};
}
}  // namespace mopvm::elf
