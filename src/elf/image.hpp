// SPDX-License-Identifier: MIT
/// @file
/// What the headers of an ELF file say, validated.
#pragma once

#include <mopvm/error.hpp>
#include <mopvm/memory.hpp>
#include <mopvm/program.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace mopvm::elf
{
/// Bits of `Segment::elf_flags`.
namespace segment_flag
{
inline constexpr std::uint32_t execute = 1;
inline constexpr std::uint32_t write = 2;
inline constexpr std::uint32_t read = 4;
}  // namespace segment_flag

/// The value of `Image::machine` in files that compilers make for this machine.
inline constexpr std::uint16_t machine_riscv = 243;

/// Bytes of one program header, whatever the file says about it.
inline constexpr std::uint16_t program_header_size = 56;

/// A program as its file describes it: all that loading needs beside the file's bytes, and what the
/// loader ignores but a user may want to be warned about.
struct Image
{
    std::uint64_t entry = 0;
    std::uint64_t loaded_bytes = 0;  ///< Sum of all segments' file sizes.
    std::vector<Segment> segments;   ///< The PT_LOAD entries in table order.

    bool big_endian = false;    ///< Headers only; the bytes of segments are never swapped.
    std::uint16_t type = 0;     ///< e_type.
    std::uint16_t machine = 0;  ///< e_machine.
    std::uint32_t flags = 0;    ///< e_flags.
    std::uint16_t declared_header_size = 0;  ///< e_phentsize.
    std::uint16_t program_headers = 0;       ///< e_phnum: entries of all types.
};

/// Reads and validates the headers of @p file as `docs/elf.md` says. Segments are not checked
/// against a memory size. Fails with one of the elf errors or `out_of_memory`.
[[nodiscard]] Result<Image> parse(std::span<const std::byte> file) noexcept;
}  // namespace mopvm::elf
