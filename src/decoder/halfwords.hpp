// SPDX-License-Identifier: MIT
/// @file
/// The 16-bit encodings of compressed.inc as tables to look up.
#pragma once

#include "isa/compressed.hpp"
#include "isa/opcode.hpp"
#include "isa/packed.hpp"

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <utility>

namespace mopvm::decoder::detail
{
/// Quadrant and funct3, which every row fixes.
constexpr std::size_t halfword_key(std::uint32_t bits) noexcept
{
    return (bits & 3) << 3 | (bits >> 13 & 7);
}
inline constexpr std::size_t halfword_keys = 24;

/// Something by the two halves of what else a halfword says, bits 12 to 7 and 6 to 2.
template <typename T>
struct Halves
{
    std::array<T, 64> upper{};
    std::array<T, 32> lower{};

    [[nodiscard]] static constexpr std::size_t upper_half(std::uint32_t bits) noexcept
    {
        return bits >> 7 & 63;
    }
    [[nodiscard]] static constexpr std::size_t lower_half(std::uint32_t bits) noexcept
    {
        return bits >> 2 & 31;
    }

    /// Sets all to what @p value makes of halfwords with one half.
    consteval void fill(const auto& value)
    {
        for (std::uint32_t half = 0; half < upper.size(); ++half)
            upper[half] = value(half << 7, upper_half(~0U) << 7);
        for (std::uint32_t half = 0; half < lower.size(); ++half)
            lower[half] = value(half << 2, lower_half(~0U) << 2);
    }
};

/// Registers as `isa::pack` gives them, and the immediate above. Each bit of them depends on one
/// bit of a halfword, so they are what both halves say, put together.
using HalfwordFields = Halves<std::uint64_t>;

constexpr std::uint64_t combine(const HalfwordFields& fields, std::uint32_t bits) noexcept
{
    return fields.upper[HalfwordFields::upper_half(bits)] |
           fields.lower[HalfwordFields::lower_half(bits)];
}

/// The fields of an instruction by @p row; HINTs have those of what they decode to, none.
constexpr std::uint64_t fields_of(const isa::CompressedRow& row, std::uint32_t bits) noexcept
{
    if (row.kind != isa::CompressedRow::Kind::expansion)
        return 0;
    const auto imm = static_cast<std::uint32_t>(row.immediate.extract(bits));
    return isa::pack(row.rd.extract(bits), row.rs1.extract(bits), row.rs2.extract(bits)) |
           std::uint64_t{imm} << 32;
}

/// The number of the first row that has the same fields in the same places as row @p i.
consteval std::size_t first_with_fields_of(std::size_t i)
{
    const auto same = [](const isa::CompressedRow& x, const isa::CompressedRow& y) {
        constexpr auto expansion = isa::CompressedRow::Kind::expansion;
        if (x.kind != expansion || y.kind != expansion)
            return x.kind != expansion && y.kind != expansion;
        return x.rd == y.rd && x.rs1 == y.rs1 && x.rs2 == y.rs2 && x.immediate == y.immediate;
    };
    std::size_t first = 0;
    while (!same(isa::compressed_rows[first], isa::compressed_rows[i]))
        ++first;
    return first;
}

/// How many rows in front of row @p end are the first with their fields.
consteval std::size_t different_fields(std::size_t end)
{
    std::size_t count = 0;
    for (std::size_t i = 0; i < end; ++i)
        count += first_with_fields_of(i) == i ? std::size_t{1} : std::size_t{0};
    return count;
}

/// What @p operation is called in the versions that @p wanted names.
consteval isa::Opcode variant(isa::Opcode operation, isa::Versions wanted)
{
    if (isa::traits(operation).versions == isa::Versions::all)
        return operation;
    for (std::size_t i = 0; i < isa::opcode_count; ++i) {
        const auto other = static_cast<isa::Opcode>(i);
        if (isa::traits(other).mnemonic == isa::traits(operation).mnemonic &&
            isa::traits(other).versions == wanted)
            return other;
    }
    throw "the operation is missing in a version";
}

/// What the rows of compressed.inc decode to, by their numbers.
struct HalfwordRow
{
    std::uint32_t version_0 = 0;  ///< Opcode and length, as `isa::pack` gives them;
    std::uint32_t from_1 = 0;     ///< in later versions.
    std::uint8_t fields = 0;      ///< Index into `halfword_fields`.
};

inline constexpr auto halfword_rows = []() consteval {
    std::array<HalfwordRow, isa::compressed_rows.size()> rows{};
    for (std::size_t i = 0; i < rows.size(); ++i) {
        const isa::CompressedRow& row = isa::compressed_rows[i];
        rows[i].fields = static_cast<std::uint8_t>(different_fields(first_with_fields_of(i)));
        if (row.kind == isa::CompressedRow::Kind::reserved)
            continue;
        if (isa::letter_bits(row.pattern, "i") != row.immediate.source_bits())
            throw "pattern and map disagree about the immediate";
        if (row.versions != isa::Versions::from_1)
            rows[i].version_0 = isa::pack(variant(row.operation, isa::Versions::only_0), 2);
        if (row.versions != isa::Versions::only_0)
            rows[i].from_1 = isa::pack(variant(row.operation, isa::Versions::from_1), 2);
    }
    return rows;
}();

inline constexpr auto halfword_fields = []() consteval {
    std::array<HalfwordFields, different_fields(isa::compressed_rows.size())> all{};
    for (std::size_t i = 0; i < isa::compressed_rows.size(); ++i) {
        const isa::CompressedRow& row = isa::compressed_rows[i];
        all[halfword_rows[i].fields].fill(
            [&](std::uint32_t bits, std::uint32_t /*half*/) { return fields_of(row, bits); });
    }
    return all;
}();

/// The rows of one quadrant and funct3.
struct HalfwordGroup
{
    std::uint8_t first_row = 0;
    /// Which of them accept a half: a bit for each, the lowest for the first.
    Halves<std::uint16_t> accepting;

    /// The number of the first that accepts @p bits.
    [[nodiscard]] constexpr std::size_t find(std::uint32_t bits) const noexcept
    {
        const std::uint32_t both = accepting.upper[Halves<std::uint16_t>::upper_half(bits)] &
                                   accepting.lower[Halves<std::uint16_t>::lower_half(bits)];
        if (both == 0)
            std::unreachable();
        return first_row + static_cast<std::size_t>(std::countr_zero(both));
    }
};

inline constexpr auto halfword_groups = []() consteval {
    std::array<HalfwordGroup, halfword_keys> groups{};
    std::size_t row = 0;
    for (std::size_t done = 0; done < halfword_keys; ++done) {
        const std::size_t first = row;
        const std::size_t key = halfword_key(isa::compressed_rows[first].encoding.match);
        for (; row < isa::compressed_rows.size(); ++row) {
            const auto& encoding = isa::compressed_rows[row].encoding;
            if (halfword_key(encoding.mask) != halfword_key(0xffff))
                throw "a halfword fixes its quadrant and funct3";
            if (halfword_key(encoding.match) != key)
                break;
        }
        if (groups[key].first_row != 0 || row - first > 16)
            throw "the rows of a quadrant and funct3 stand together, and are few";
        groups[key].first_row = static_cast<std::uint8_t>(first);
        groups[key].accepting.fill([&](std::uint32_t bits, std::uint32_t half) {
            unsigned accepting = 0;
            for (std::size_t i = first; i < row; ++i) {
                const auto& encoding = isa::compressed_rows[i].encoding;
                if (((bits ^ encoding.match) & encoding.mask & half) == 0)
                    accepting |= 1U << (i - first);
            }
            return static_cast<std::uint16_t>(accepting);
        });
    }
    return groups;
}();

consteval bool some_row_accepts_every_halfword()
{
    for (const HalfwordGroup& group : halfword_groups) {
        for (const std::uint16_t upper : group.accepting.upper) {
            for (const std::uint16_t lower : group.accepting.lower) {
                if ((upper & lower) == 0)
                    return false;
            }
        }
    }
    return true;
}
static_assert(some_row_accepts_every_halfword());

/// What compressed.inc promises about overlapping patterns.
consteval bool halfwords_are_specific_first()
{
    const auto& rows = isa::compressed_rows;
    for (std::size_t j = 0; j < rows.size(); ++j) {
        for (std::size_t i = 0; i < j; ++i) {
            const auto& x = rows[i].encoding;
            const auto& y = rows[j].encoding;
            if (!overlap(x, y) || std::popcount(x.mask) > std::popcount(y.mask))
                continue;
            bool decided = false;
            for (std::size_t k = 0; k < i; ++k)
                decided |= contains_common(rows[k].encoding, x, y);
            if (!decided)
                return false;
        }
    }
    return true;
}
static_assert(halfwords_are_specific_first(), "compressed.inc is sorted most specific first");
}  // namespace mopvm::decoder::detail
