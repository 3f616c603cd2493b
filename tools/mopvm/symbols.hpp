// SPDX-License-Identifier: MIT
/// @file
/// Names of places in a program's code, from its symbol table.
#pragma once

#include <mopvm/program.hpp>

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace mopvm::tool
{
/// The code symbols of one ELF file. A file without a symbol table, or with one that cannot be
/// read, has none.
class Symbols
{
public:
    /// A name of an address.
    struct Symbol
    {
        std::uint64_t address = 0;
        std::uint64_t size = 0;  ///< Bytes; 0 when unknown.
        std::string_view name;   ///< As in the file: any bytes.
    };

    /// Reads the symbols of @p program that are in its executable segments. The names refer to the
    /// program's file.
    explicit Symbols(Program program);

    /// All symbols by address; of several at one address, the best to show comes last.
    [[nodiscard]] std::span<const Symbol> all() const noexcept { return m_symbols; }

    /// The names of exactly @p address.
    [[nodiscard]] std::span<const Symbol> at(std::uint64_t address) const noexcept;

    /// Where @p address is: `main` or `main+0x1c`, printable; empty when no symbol tells.
    [[nodiscard]] std::string place(std::uint64_t address) const;

private:
    /// Executable addresses, both ends included.
    struct Range
    {
        std::uint64_t first = 0;
        std::uint64_t last = 0;
    };

    /// The range that holds @p address; null when that is not executable.
    [[nodiscard]] const Range* range_of(std::uint64_t address) const noexcept;
    void find_ranges();
    void find_symbols();

    Program m_program;
    std::vector<Range> m_ranges;  ///< By address, disjoint.
    std::vector<Symbol> m_symbols;
};

/// True when @p segment is executable.
[[nodiscard]] bool is_executable(const Segment& segment) noexcept;

/// The last address of the pages of @p segment, which are some; at most 2^64-1.
[[nodiscard]] std::uint64_t last_address(const Segment& segment) noexcept;
}  // namespace mopvm::tool
