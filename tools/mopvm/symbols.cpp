// SPDX-License-Identifier: MIT
// Symbol tables, read with libelf and trusted in nothing.

#include "symbols.hpp"

#include "text.hpp"

#include <gelf.h>
#include <algorithm>
#include <cstring>
#include <limits>
#include <tuple>
#include <utility>

namespace mopvm::tool
{
namespace
{
constexpr std::uint32_t executable_flag = 1;

/// Longest part of a name that is kept, in bytes: a file may overlap as many long names as it
/// likes.
constexpr std::size_t max_name = 256;

struct ElfCloser
{
    void operator()(Elf* elf) const noexcept { ::elf_end(elf); }
};

/// The bytes of section number @p index; empty when it cannot be read.
[[nodiscard]] std::span<const char> section_bytes(Elf* elf, std::size_t index)
{
    Elf_Scn* const section = ::elf_getscn(elf, index);
    const Elf_Data* const data = section == nullptr ? nullptr : ::elf_rawdata(section, nullptr);
    if (data == nullptr || data->d_buf == nullptr)
        return {};
    return {static_cast<const char*>(data->d_buf), data->d_size};
}

[[nodiscard]] std::string_view name_at(std::span<const char> strings, std::size_t offset) noexcept
{
    if (offset >= strings.size())
        return {};
    const auto rest = strings.subspan(offset, std::min(strings.size() - offset, max_name));
    return {rest.data(), ::strnlen(rest.data(), rest.size())};
}

/// True for what marks places in code; not for the assembler's own marks (`$x`) and labels (`.L1`).
[[nodiscard]] bool is_code_symbol(const GElf_Sym& symbol, std::string_view name) noexcept
{
    const auto type = GELF_ST_TYPE(symbol.st_info);
    return (type == STT_FUNC || type == STT_NOTYPE) && symbol.st_shndx != SHN_UNDEF &&
           symbol.st_shndx != SHN_ABS && !name.empty() && !name.starts_with('$') &&
           !name.starts_with(".L");
}

/// How good @p symbol is among those of one address; the greatest is shown.
[[nodiscard]] int rank(const GElf_Sym& symbol) noexcept
{
    return (GELF_ST_TYPE(symbol.st_info) == STT_FUNC ? 2 : 0) +
           (GELF_ST_BIND(symbol.st_info) == STB_GLOBAL ? 1 : 0);
}
}  // namespace

bool is_executable(const Segment& segment) noexcept
{
    return (segment.elf_flags & executable_flag) != 0;
}

std::uint64_t last_address(const Segment& segment) noexcept
{
    const auto last = segment.address + (segment.size - 1);
    return last < segment.address ? std::numeric_limits<std::uint64_t>::max() : last;
}

Symbols::Symbols(Program program) : m_program{std::move(program)}
{
    find_ranges();
    find_symbols();
}

void Symbols::find_ranges()
{
    std::vector<Range> all;
    for (const auto& segment : m_program.segments()) {
        if (is_executable(segment) && segment.size != 0)
            all.push_back({segment.address, last_address(segment)});
    }
    std::ranges::sort(all, {}, &Range::first);
    for (const auto& range : all) {
        if (!m_ranges.empty() && range.first <= m_ranges.back().last)
            m_ranges.back().last = std::max(m_ranges.back().last, range.last);
        else
            m_ranges.push_back(range);
    }
}

const Symbols::Range* Symbols::range_of(std::uint64_t address) const noexcept
{
    const auto next = std::ranges::upper_bound(m_ranges, address, {}, &Range::first);
    if (next == m_ranges.begin() || std::prev(next)->last < address)
        return nullptr;
    return &*std::prev(next);
}

void Symbols::find_symbols()
{
    const auto file = m_program.file();
    if (::elf_version(EV_CURRENT) == EV_NONE)
        return;
    // libelf takes the image by a pointer to mutable bytes, and only reads them.
    // NOLINTNEXTLINE(cppcoreguidelines-pro-type-const-cast)
    auto* const image = const_cast<char*>(reinterpret_cast<const char*>(file.data()));
    const std::unique_ptr<Elf, ElfCloser> elf{::elf_memory(image, file.size())};
    if (!elf || ::elf_kind(elf.get()) != ELF_K_ELF || ::gelf_getclass(elf.get()) != ELFCLASS64)
        return;

    std::vector<std::pair<Symbol, int>> found;
    for (Elf_Scn* section = ::elf_nextscn(elf.get(), nullptr); section != nullptr;
         section = ::elf_nextscn(elf.get(), section))
    {
        GElf_Shdr header{};
        if (::gelf_getshdr(section, &header) == nullptr || header.sh_type != SHT_SYMTAB)
            continue;
        Elf_Data* const data = ::elf_getdata(section, nullptr);
        const auto strings = section_bytes(elf.get(), header.sh_link);
        // Names outlive libelf's own data only when they are in the file itself.
        const auto* const file_begin = reinterpret_cast<const char*>(file.data());
        if (data == nullptr || strings.empty() || strings.data() < file_begin ||
            strings.data() + strings.size() > file_begin + file.size())
            continue;
        const auto count = std::min<std::size_t>(data->d_size / sizeof(Elf64_Sym),
                                                 std::numeric_limits<int>::max());
        for (std::size_t i = 0; i != count; ++i) {
            GElf_Sym symbol{};
            if (::gelf_getsym(data, static_cast<int>(i), &symbol) == nullptr)
                break;
            const auto name = name_at(strings, symbol.st_name);
            if (is_code_symbol(symbol, name) && range_of(symbol.st_value) != nullptr)
                found.emplace_back(Symbol{symbol.st_value, symbol.st_size, name}, rank(symbol));
        }
        break;
    }
    std::ranges::sort(found, {}, [](const auto& entry) {
        return std::tuple{entry.first.address, entry.second, entry.first.name};
    });
    m_symbols.reserve(found.size());
    for (const auto& entry : found)
        m_symbols.push_back(entry.first);
}

std::span<const Symbols::Symbol> Symbols::at(std::uint64_t address) const noexcept
{
    return std::ranges::equal_range(m_symbols, address, {}, &Symbol::address);
}

std::string Symbols::place(std::uint64_t address) const
{
    const auto next = std::ranges::upper_bound(m_symbols, address, {}, &Symbol::address);
    if (next == m_symbols.begin())
        return {};
    const auto& symbol = *std::prev(next);
    const auto offset = address - symbol.address;
    const bool covers =
        symbol.size != 0 ? offset < symbol.size : range_of(symbol.address) == range_of(address);
    if (!covers)
        return {};
    return printable(symbol.name) + (offset == 0 ? std::string{} : "+" + hex(offset));
}
}  // namespace mopvm::tool
