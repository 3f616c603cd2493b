// SPDX-License-Identifier: MIT
// The decoder: the encodings of opcodes.inc and compressed.inc, sorted into small buckets.
#include "decoder/decoder.hpp"

#include "isa/compressed.hpp"
#include "isa/encoding.hpp"
#include "isa/fields.hpp"
#include "isa/formats.hpp"
#include "isa/opcode.hpp"

#include <array>
#include <bit>
#include <cstddef>
#include <span>
#include <string_view>

namespace mopvm::decoder
{
namespace
{
using isa::Encoding;
using isa::Extension;
using isa::Format;
using isa::Instruction;
using isa::Opcode;
using isa::RegisterField;
using isa::Versions;

/// Which instruction sets and versions have a row, and what an `Isa` has: one bit each.
enum Feature : std::uint8_t
{
    always = 0,
    has_b = 1,
    has_a = 2,
    before_1 = 4,
    from_1 = 8,
};

constexpr std::uint8_t needed(Extension extension, Versions versions) noexcept
{
    const Feature set = extension == Extension::b   ? has_b
                        : extension == Extension::a ? has_a
                                                    : always;
    const Feature version = versions == Versions::only_0   ? before_1
                            : versions == Versions::from_1 ? from_1
                                                           : always;
    return static_cast<std::uint8_t>(set | version);
}

constexpr std::uint8_t features(const Isa& isa) noexcept
{
    return static_cast<std::uint8_t>((isa.b ? has_b : always) | (isa.a ? has_a : always) |
                                     (isa.version == Version::v0 ? before_1 : from_1));
}

/// One 32-bit encoding.
struct WordRow
{
    Encoding<std::uint32_t> encoding;
    RegisterField rd;
    RegisterField rs1;
    RegisterField rs2;
    Opcode opcode = Opcode::invalid;
    Format format = Format::none;
    std::uint8_t needs = always;
};

consteval WordRow word_row(std::string_view pattern,
                           Opcode opcode,
                           Format format,
                           std::uint8_t needs)
{
    if (isa::letter_bits(pattern, "ih") != isa::traits(format).immediate.source_bits())
        throw "pattern and format disagree about the immediate";
    return {.encoding = isa::parse_encoding<std::uint32_t>(pattern),
            .rd = isa::register_field(pattern, 'd'),
            .rs1 = isa::register_field(pattern, 's'),
            .rs2 = isa::register_field(pattern, 't'),
            .opcode = opcode,
            .format = format,
            .needs = needs};
}

constexpr auto word_rows = std::to_array<WordRow>({
#define MOPVM_INSTRUCTION(id, mnemonic, format, pattern, extension, cost, flow, versions) \
    word_row(pattern, Opcode::id, Format::format, needed(Extension::extension, Versions::versions)),
#include "isa/opcodes.inc"
});

/// One 16-bit encoding; HINTs have the fields of what they decode to.
struct HalfwordRow
{
    Encoding<std::uint16_t> encoding;
    RegisterField rd;
    RegisterField rs1;
    RegisterField rs2;
    Opcode opcode_0 = Opcode::invalid;       ///< in version 0
    Opcode opcode_from_1 = Opcode::invalid;  ///< in later versions
    isa::ImmediateMap immediate;
};

/// What @p operation is called in the versions that @p wanted names.
consteval Opcode variant(Opcode operation, Versions wanted)
{
    if (isa::traits(operation).versions == Versions::all)
        return operation;
    for (std::size_t i = 0; i < isa::opcode_count; ++i) {
        const auto other = static_cast<Opcode>(i);
        if (isa::traits(other).mnemonic == isa::traits(operation).mnemonic &&
            isa::traits(other).versions == wanted)
            return other;
    }
    throw "the operation is missing in a version";
}

consteval HalfwordRow halfword_row(const isa::CompressedRow& row)
{
    HalfwordRow result;
    result.encoding = row.encoding;
    if (row.kind == isa::CompressedRow::Kind::reserved)
        return result;
    if (isa::letter_bits(row.pattern, "i") != row.immediate.source_bits())
        throw "pattern and map disagree about the immediate";
    if (row.versions != Versions::from_1)
        result.opcode_0 = variant(row.operation, Versions::only_0);
    if (row.versions != Versions::only_0)
        result.opcode_from_1 = variant(row.operation, Versions::from_1);
    if (row.kind == isa::CompressedRow::Kind::expansion) {
        result.rd = row.rd;
        result.rs1 = row.rs1;
        result.rs2 = row.rs2;
        result.immediate = row.immediate;
    }
    return result;
}

constexpr auto halfword_rows = []() consteval {
    std::array<HalfwordRow, isa::compressed_rows.size()> rows{};
    for (std::size_t i = 0; i < rows.size(); ++i)
        rows[i] = halfword_row(isa::compressed_rows[i]);
    return rows;
}();

template <typename Word>
constexpr bool overlap(const Encoding<Word>& x, const Encoding<Word>& y) noexcept
{
    return ((x.match ^ y.match) & x.mask & y.mask) == 0;
}

/// True when @p outer accepts all that both @p x and @p y accept; they must overlap.
template <typename Word>
constexpr bool contains_common(const Encoding<Word>& outer,
                               const Encoding<Word>& x,
                               const Encoding<Word>& y) noexcept
{
    const auto mask = static_cast<Word>(x.mask | y.mask);
    const auto match = static_cast<Word>(x.match | y.match);
    return (outer.mask & ~mask) == 0 && outer.accepts(match);
}

consteval bool words_are_disjoint()
{
    for (std::size_t i = 0; i < word_rows.size(); ++i) {
        for (std::size_t j = i + 1; j < word_rows.size(); ++j) {
            const auto& x = word_rows[i];
            const auto& y = word_rows[j];
            const bool never_together =
                ((x.needs | y.needs) & (before_1 | from_1)) == (before_1 | from_1);
            if (overlap(x.encoding, y.encoding) && !never_together)
                return false;
        }
    }
    return true;
}
static_assert(words_are_disjoint(), "at most one 32-bit row accepts a word in a version");

/// What compressed.inc promises about overlapping patterns.
consteval bool halfwords_are_specific_first()
{
    for (std::size_t j = 0; j < halfword_rows.size(); ++j) {
        for (std::size_t i = 0; i < j; ++i) {
            const auto& x = halfword_rows[i].encoding;
            const auto& y = halfword_rows[j].encoding;
            if (!overlap(x, y) || std::popcount(x.mask) > std::popcount(y.mask))
                continue;
            bool decided = false;
            for (std::size_t k = 0; k < i; ++k)
                decided |= contains_common(halfword_rows[k].encoding, x, y);
            if (!decided)
                return false;
        }
    }
    return true;
}
static_assert(halfwords_are_specific_first(), "compressed.inc is sorted most specific first");

/// Rows by key; a row that leaves bits of the key free is in several buckets. Within a bucket rows
/// keep their order.
template <typename Row, std::size_t Keys, std::size_t Entries>
struct Buckets
{
    std::array<std::uint16_t, Keys + 1> begin{};
    std::array<Row, Entries> rows{};

    [[nodiscard]] constexpr std::span<const Row> operator[](std::size_t key) const noexcept
    {
        return {rows.data() + begin[key], rows.data() + begin[key + 1]};
    }
};

/// Keys in a row, one after another.
struct KeyRange
{
    std::size_t first;
    std::size_t count;
};

constexpr std::size_t word_key(std::uint32_t bits) noexcept
{
    return (bits >> 2 & 31) << 3 | (bits >> 12 & 7);
}

constexpr std::size_t halfword_key(std::uint32_t bits) noexcept
{
    return (bits & 3) << 3 | (bits >> 13 & 7);
}

consteval KeyRange keys(const Encoding<std::uint32_t>& encoding)
{
    const std::size_t fixed = word_key(encoding.mask);
    if (fixed != 0xff && fixed != 0xf8)
        throw "a word fixes its opcode, and all of funct3 or nothing of it";
    return {word_key(encoding.match), fixed == 0xff ? std::size_t{1} : std::size_t{8}};
}

consteval KeyRange keys(const Encoding<std::uint16_t>& encoding)
{
    if (halfword_key(encoding.mask) != 0x1f)
        throw "a halfword fixes its quadrant and funct3";
    return {halfword_key(encoding.match), 1};
}

template <std::size_t Size, typename Row>
consteval std::size_t entry_count(const std::array<Row, Size>& rows)
{
    std::size_t count = 0;
    for (const Row& row : rows)
        count += keys(row.encoding).count;
    return count;
}

template <std::size_t Keys, std::size_t Entries, std::size_t Size, typename Row>
consteval Buckets<Row, Keys, Entries> sort_into_buckets(const std::array<Row, Size>& rows)
{
    Buckets<Row, Keys, Entries> buckets;
    for (const Row& row : rows) {
        const KeyRange range = keys(row.encoding);
        for (std::size_t key = range.first; key < range.first + range.count; ++key)
            ++buckets.begin[key + 1];
    }
    for (std::size_t key = 0; key < Keys; ++key)
        buckets.begin[key + 1] =
            static_cast<std::uint16_t>(buckets.begin[key + 1] + buckets.begin[key]);
    auto next = buckets.begin;
    for (const Row& row : rows) {
        const KeyRange range = keys(row.encoding);
        for (std::size_t key = range.first; key < range.first + range.count; ++key)
            buckets.rows[next[key]++] = row;
    }
    return buckets;
}

constexpr auto words = sort_into_buckets<256, entry_count(word_rows)>(word_rows);
constexpr auto halfwords = sort_into_buckets<24, entry_count(halfword_rows)>(halfword_rows);

template <typename Row>
Instruction instruction(const Row& row,
                        Opcode opcode,
                        const isa::ImmediateMap& immediate,
                        std::uint8_t length,
                        std::uint32_t bits) noexcept
{
    return {.opcode = opcode,
            .rd = row.rd.extract(bits),
            .rs1 = row.rs1.extract(bits),
            .rs2 = static_cast<std::uint8_t>(row.rs2.extract(bits) & 31),
            .length = static_cast<std::uint8_t>(length & 7),
            .imm = immediate.extract(bits)};
}

Instruction decode_word(std::uint32_t bits, std::uint8_t available) noexcept
{
    for (const WordRow& row : words[word_key(bits)]) {
        if (row.encoding.accepts(bits) && (row.needs & ~available) == 0)
            return instruction(row, row.opcode, isa::traits(row.format).immediate, 4, bits);
    }
    return {};
}

Instruction decode_halfword(std::uint16_t bits, bool version_0) noexcept
{
    for (const HalfwordRow& row : halfwords[halfword_key(bits)]) {
        if (!row.encoding.accepts(bits))
            continue;
        const Opcode opcode = version_0 ? row.opcode_0 : row.opcode_from_1;
        if (opcode == Opcode::invalid)
            break;
        return instruction(row, opcode, row.immediate, 2, bits);
    }
    return {};
}
}  // namespace

Instruction decode(std::uint32_t bits, const Isa& isa) noexcept
{
    if (is_compressed(bits))
        return decode_halfword(static_cast<std::uint16_t>(bits), isa.version == Version::v0);
    return decode_word(bits, features(isa));
}
}  // namespace mopvm::decoder
