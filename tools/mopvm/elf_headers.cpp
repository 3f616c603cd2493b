// SPDX-License-Identifier: MIT
// Oddities of ELF headers.

#include "elf_headers.hpp"

#include "symbols.hpp"
#include "text.hpp"

#include <elf.h>
#include <algorithm>
#include <cstddef>
#include <span>

namespace mopvm::tool
{
namespace
{
constexpr std::uint64_t declared_entry_size = sizeof(Elf64_Phdr);
/// The bits of e_flags that say in which registers floating-point arguments are.
constexpr std::uint64_t float_abi_mask = EF_RISCV_FLOAT_ABI;

/// Reads fields of headers that have been found to be inside the file.
class HeaderReader
{
public:
    explicit HeaderReader(std::span<const std::byte> file) noexcept
        : m_file{file}, m_big{file[EI_DATA] == std::byte{ELFDATA2MSB}}
    {}

    [[nodiscard]] bool is_big_endian() const noexcept { return m_big; }

    /// The unsigned number in @p size bytes at @p offset.
    [[nodiscard]] std::uint64_t number(std::uint64_t offset, std::size_t size) const noexcept
    {
        std::uint64_t value = 0;
        for (std::size_t i = 0; i != size; ++i)
            value = value << 8 |
                    std::to_integer<std::uint64_t>(m_file[offset + (m_big ? i : size - 1 - i)]);
        return value;
    }

private:
    std::span<const std::byte> m_file;
    bool m_big;
};

#define MOPVM_FIELD(reader, base, type, field) \
    (reader).number((base) + offsetof(type, field), sizeof(type::field))

[[nodiscard]] std::vector<std::string> header_oddities(const HeaderReader& header)
{
    std::vector<std::string> found;
    if (header.is_big_endian())
        found.emplace_back("the headers are big-endian; code and data are taken as they are");
    if (MOPVM_FIELD(header, 0, Elf64_Ehdr, e_machine) != EM_RISCV)
        found.emplace_back("the file is not for RISC-V (e_machine " +
                           std::to_string(MOPVM_FIELD(header, 0, Elf64_Ehdr, e_machine)) + ")");
    else if ((MOPVM_FIELD(header, 0, Elf64_Ehdr, e_flags) & float_abi_mask) != 0)
        found.emplace_back(
            "the program is built for floating-point registers, which the machine "
            "does not have; build with -mabi=lp64");
    if (MOPVM_FIELD(header, 0, Elf64_Ehdr, e_type) == ET_DYN)
        found.emplace_back("the program is position-independent; nothing relocates it");
    return found;
}

[[nodiscard]] std::vector<std::string> program_header_oddities(const HeaderReader& header)
{
    std::vector<std::string> found;
    const auto count = MOPVM_FIELD(header, 0, Elf64_Ehdr, e_phnum);
    const auto table = MOPVM_FIELD(header, 0, Elf64_Ehdr, e_phoff);
    const auto entry_size = MOPVM_FIELD(header, 0, Elf64_Ehdr, e_phentsize);
    if (count != 0 && entry_size != declared_entry_size)
        found.emplace_back("e_phentsize is " + std::to_string(entry_size) +
                           "; program headers are read as 56 bytes each");
    for (std::uint64_t i = 0; i != count; ++i) {
        const auto base = table + i * declared_entry_size;
        const auto type = MOPVM_FIELD(header, base, Elf64_Phdr, p_type);
        if (type == PT_INTERP)
            found.emplace_back("the program asks for a dynamic loader; there is none");
        if (type == PT_LOAD && MOPVM_FIELD(header, base, Elf64_Phdr, p_filesz) >
                                   MOPVM_FIELD(header, base, Elf64_Phdr, p_memsz))
            found.emplace_back("the segment at " +
                               hex(MOPVM_FIELD(header, base, Elf64_Phdr, p_vaddr)) +
                               " has more bytes in the file than in memory");
    }
    return found;
}

#undef MOPVM_FIELD

[[nodiscard]] std::vector<std::string> shared_pages(const Program& program)
{
    std::vector<Segment> segments{program.segments().begin(), program.segments().end()};
    std::erase_if(segments, [](const Segment& segment) { return segment.size == 0; });
    std::ranges::sort(segments, {}, &Segment::address);
    std::vector<std::string> found;
    for (std::size_t i = 1, reaching = 0; i < segments.size(); ++i) {
        if (last_address(segments[reaching]) >= segments[i].address)
            found.emplace_back("the segments at " +
                               hex(segments[reaching].address + segments[reaching].padding) +
                               " and " + hex(segments[i].address + segments[i].padding) +
                               " share a page; the later in the file wipes it, or is refused");
        if (last_address(segments[i]) > last_address(segments[reaching]))
            reaching = i;
    }
    return found;
}

[[nodiscard]] std::vector<std::string> entry_oddities(const Program& program)
{
    std::vector<std::string> found;
    const auto holds_entry = [&](const Segment& segment) {
        return is_executable(segment) && segment.size != 0 && segment.address <= program.entry() &&
               program.entry() <= last_address(segment);
    };
    if (program.segments().empty())
        found.emplace_back("there is nothing to load: no PT_LOAD segment");
    else if (std::ranges::none_of(program.segments(), holds_entry))
        found.emplace_back("the entry " + hex(program.entry()) +
                           " is in no executable segment; the first fetch fails");
    if (program.entry() % 2 != 0)
        found.emplace_back("the entry " + hex(program.entry()) + " is odd");
    return found;
}
}  // namespace

std::vector<std::string> find_oddities(const Program& program)
{
    const HeaderReader header{program.file()};
    std::vector<std::string> all;
    for (auto&& found : {header_oddities(header), program_header_oddities(header),
                         shared_pages(program), entry_oddities(program)})
        all.insert(all.end(), found.begin(), found.end());
    return all;
}
}  // namespace mopvm::tool
