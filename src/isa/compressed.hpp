// SPDX-License-Identifier: MIT
/// @file
/// The 16-bit encodings of compressed.inc as a table.
#pragma once

#include "isa/encoding.hpp"
#include "isa/fields.hpp"
#include "isa/opcode.hpp"

#include <array>
#include <cstdint>
#include <string_view>

namespace mopvm::isa
{
/// One row of compressed.inc.
struct CompressedRow
{
    /// What the row is for.
    enum class Kind : std::uint8_t
    {
        expansion,
        hint,
        reserved,
    };

    Kind kind = Kind::reserved;
    std::string_view mnemonic{};
    std::string_view pattern{};
    Encoding<std::uint16_t> encoding{};
    Opcode operation = Opcode::invalid;
    /// Registers of the expansion; of a HINT, those that its spelling shows.
    RegisterField rd{};
    RegisterField rs1{};
    RegisterField rs2{};
    ImmediateMap immediate{};
    std::string_view operands{};  ///< A form of spelling.hpp.
    Versions versions = Versions::all;
};

namespace detail
{
/// Where the expansion of a compressed instruction takes a register from.
enum class CompressedRegister : std::uint8_t
{
    d,
    s,
    t,
    zero,
    ra,
    sp,
};

/// The register that @p source stands for in @p pattern. A field that the pattern does not have
/// does not compile.
consteval RegisterField resolve(std::string_view pattern, CompressedRegister source)
{
    switch (source) {
    case CompressedRegister::zero:
        return {};
    case CompressedRegister::ra:
        return {.base = 1};
    case CompressedRegister::sp:
        return {.base = 2};
    default:
        break;
    }
    const char letter = "dst"[static_cast<unsigned>(source)];
    if (!pattern.contains(letter))
        throw "the pattern does not have this register";
    return register_field(pattern, letter);
}

consteval CompressedRow expansion_row(std::string_view mnemonic,
                                      std::string_view pattern,
                                      Opcode operation,
                                      std::array<CompressedRegister, 3> registers,
                                      std::string_view immediate,
                                      std::string_view operands)
{
    return {.kind = CompressedRow::Kind::expansion,
            .mnemonic = mnemonic,
            .pattern = pattern,
            .encoding = parse_encoding<std::uint16_t>(pattern),
            .operation = operation,
            .rd = resolve(pattern, registers[0]),
            .rs1 = resolve(pattern, registers[1]),
            .rs2 = resolve(pattern, registers[2]),
            .immediate = ImmediateMap(immediate),
            .operands = operands};
}

consteval CompressedRow hint_row(std::string_view mnemonic,
                                 std::string_view pattern,
                                 std::string_view immediate,
                                 std::string_view operands,
                                 Versions versions)
{
    return {.kind = CompressedRow::Kind::hint,
            .mnemonic = mnemonic,
            .pattern = pattern,
            .encoding = parse_encoding<std::uint16_t>(pattern),
            .operation = Opcode::addi,
            .rd = register_field(pattern, 'd'),
            .rs1 = register_field(pattern, 's'),
            .rs2 = register_field(pattern, 't'),
            .immediate = ImmediateMap(immediate),
            .operands = operands,
            .versions = versions};
}

consteval CompressedRow reserved_row(std::string_view pattern)
{
    return {.pattern = pattern, .encoding = parse_encoding<std::uint16_t>(pattern)};
}
}  // namespace detail

/// The rows of compressed.inc, in their order.
inline constexpr auto compressed_rows = std::to_array<CompressedRow>({
#define MOPVM_COMPRESSED(mnemonic, pattern, operation, rd, rs1, rs2, immediate, operands)   \
    detail::expansion_row(mnemonic, pattern, Opcode::operation,                             \
                          {detail::CompressedRegister::rd, detail::CompressedRegister::rs1, \
                           detail::CompressedRegister::rs2},                                \
                          immediate, operands),
#define MOPVM_HINT(mnemonic, pattern, immediate, operands, versions) \
    detail::hint_row(mnemonic, pattern, immediate, operands, Versions::versions),
#define MOPVM_RESERVED(pattern) detail::reserved_row(pattern),
#include "isa/compressed.inc"
});

/// The row that decides about @p halfword, whose low two bits are not 11.
[[nodiscard]] constexpr const CompressedRow& find_compressed(std::uint16_t halfword) noexcept
{
    const CompressedRow* row = compressed_rows.data();
    while (!row->encoding.accepts(halfword))
        ++row;
    return *row;
}
}  // namespace mopvm::isa
