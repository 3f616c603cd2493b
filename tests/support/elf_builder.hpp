// SPDX-License-Identifier: MIT
/// @file
/// Makes ELF files for tests, valid and broken ones.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <type_traits>
#include <vector>

namespace mopvm::test
{
/// Bits of `ElfSegment::flags`.
namespace elf_flag
{
inline constexpr std::uint32_t execute = 1;
inline constexpr std::uint32_t write = 2;
inline constexpr std::uint32_t read = 4;
inline constexpr std::uint32_t code = read | execute;
inline constexpr std::uint32_t data = read | write;
}  // namespace elf_flag

/// Offsets of header fields, for `put`. Program header number i begins at `headers + i *
/// header_size`.
namespace elf_at
{
inline constexpr std::size_t magic = 0;         ///< 4 bytes
inline constexpr std::size_t class_ = 4;        ///< 8 bits
inline constexpr std::size_t data = 5;          ///< 8 bits
inline constexpr std::size_t type = 16;         ///< 16 bits
inline constexpr std::size_t machine = 18;      ///< 16 bits
inline constexpr std::size_t version = 20;      ///< 32 bits
inline constexpr std::size_t entry = 24;        ///< 64 bits
inline constexpr std::size_t phoff = 32;        ///< 64 bits
inline constexpr std::size_t flags = 48;        ///< 32 bits
inline constexpr std::size_t ehsize = 52;       ///< 16 bits
inline constexpr std::size_t phentsize = 54;    ///< 16 bits
inline constexpr std::size_t phnum = 56;        ///< 16 bits
inline constexpr std::size_t headers = 64;      ///< Where the builder places the first one.
inline constexpr std::size_t header_size = 56;  ///< Bytes of one program header.
inline constexpr std::size_t p_type = 0;        ///< 32 bits, as the following in each header
inline constexpr std::size_t p_flags = 4;       ///< 32 bits
inline constexpr std::size_t p_offset = 8;      ///< 64 bits
inline constexpr std::size_t p_vaddr = 16;      ///< 64 bits
inline constexpr std::size_t p_paddr = 24;      ///< 64 bits
inline constexpr std::size_t p_filesz = 32;     ///< 64 bits
inline constexpr std::size_t p_memsz = 40;      ///< 64 bits
inline constexpr std::size_t p_align = 48;      ///< 64 bits
}  // namespace elf_at

/// One program header and its bytes. What is not given follows from the bytes.
struct ElfSegment
{
    std::uint64_t vaddr = 0x10000;
    std::uint32_t flags = elf_flag::code;
    std::vector<std::byte> bytes{};
    std::optional<std::uint64_t> memsz{};   ///< Else the number of bytes.
    std::optional<std::uint64_t> filesz{};  ///< Else the number of bytes.
    std::optional<std::uint64_t> offset{};  ///< Else where the builder placed the bytes.
    std::uint32_t type = 1;                 ///< PT_LOAD.
};

/// A whole file: `build(ElfFile{.entry = 0x10000, .segments = {{.bytes = code}}})`.
struct ElfFile
{
    std::uint64_t entry = 0x10000;
    std::vector<ElfSegment> segments{};
    bool big_endian = false;  ///< Byte order of the headers.
};

/// Overwrites the bytes at @p offset of @p file, growing it where needed, with @p value.
template <typename T>
void put(std::vector<std::byte>& file, std::size_t offset, T value, bool big_endian = false)
{
    static_assert(std::is_unsigned_v<T>);
    if (file.size() < offset + sizeof(T))
        file.resize(offset + sizeof(T));
    for (std::size_t i = 0; i < sizeof(T); ++i) {
        const std::size_t position = big_endian ? sizeof(T) - 1 - i : i;
        file[offset + position] = static_cast<std::byte>(std::uint64_t{value} >> 8 * i & 0xff);
    }
}

/// The offset of a field of program header number @p index in a file of the builder.
constexpr std::size_t program_header_at(std::size_t index, std::size_t field)
{
    return elf_at::headers + index * elf_at::header_size + field;
}

/// @p count bytes that differ from zero and from their neighbours.
inline std::vector<std::byte> pattern(std::size_t count)
{
    std::vector<std::byte> bytes(count);
    for (std::size_t i = 0; i < count; ++i)
        bytes[i] = static_cast<std::byte>(1 + i % 251);
    return bytes;
}

/// The file: ELF header, program headers, then the segments' bytes in order without gaps.
inline std::vector<std::byte> build(const ElfFile& elf)
{
    std::vector<std::byte> file(program_header_at(elf.segments.size(), 0));
    const auto field = [&](std::size_t offset, auto value) {
        put(file, offset, value, elf.big_endian);
    };

    put(file, elf_at::magic, std::uint32_t{0x464c457f});
    put(file, elf_at::class_, std::uint8_t{2});
    put(file, elf_at::data, static_cast<std::uint8_t>(elf.big_endian ? 2 : 1));
    put(file, 6, std::uint8_t{1});
    field(elf_at::type, std::uint16_t{2});
    field(elf_at::machine, std::uint16_t{243});
    field(elf_at::version, std::uint32_t{1});
    field(elf_at::entry, elf.entry);
    field(elf_at::phoff, std::uint64_t{elf_at::headers});
    field(elf_at::ehsize, std::uint16_t{64});
    field(elf_at::phentsize, std::uint16_t{elf_at::header_size});
    field(elf_at::phnum, static_cast<std::uint16_t>(elf.segments.size()));

    for (std::size_t i = 0; i < elf.segments.size(); ++i) {
        const ElfSegment& segment = elf.segments[i];
        const auto entry = [&](std::size_t offset, auto value) {
            field(program_header_at(i, offset), value);
        };
        const std::uint64_t size = segment.bytes.size();
        entry(elf_at::p_type, segment.type);
        entry(elf_at::p_flags, segment.flags);
        entry(elf_at::p_offset, segment.offset.value_or(file.size()));
        entry(elf_at::p_vaddr, segment.vaddr);
        entry(elf_at::p_paddr, segment.vaddr);
        entry(elf_at::p_filesz, segment.filesz.value_or(size));
        entry(elf_at::p_memsz, segment.memsz.value_or(size));
        entry(elf_at::p_align, std::uint64_t{4096});
        file.insert(file.end(), segment.bytes.begin(), segment.bytes.end());
    }
    return file;
}
}  // namespace mopvm::test
