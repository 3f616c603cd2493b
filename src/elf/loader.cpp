// SPDX-License-Identifier: MIT
/// @file
/// Placing a program's segments in guest memory.

#include "elf/loader.hpp"

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
}  // namespace

Result<void> load(const Image& image,
                  std::span<const std::byte> file,
                  memory::Space& space,
                  Version version) noexcept
{
    Memory memory{space};
    for (const Segment& segment : image.segments) {
        const auto source = file.subspan(segment.file_offset, segment.file_size);
        auto done =
            memory.init_pages(segment.address, segment.size, page_flags(segment.elf_flags, version),
                              source, segment.padding);
        // Version 0 zeroes the padding once more by an ordinary store, which code pages refuse.
        if (done && version == Version::v0)
            done = memory.fill(segment.address, segment.padding, std::byte{0});
        if (!done)
            return done;
    }
    return {};
}
}  // namespace mopvm::elf
