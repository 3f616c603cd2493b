// SPDX-License-Identifier: MIT
/// @file
/// The 32-bit encodings of opcodes.inc as tables to look up.
#pragma once

#include "decoder/decoder.hpp"
#include "isa/encoding.hpp"
#include "isa/fields.hpp"
#include "isa/formats.hpp"
#include "isa/opcode.hpp"
#include "isa/packed.hpp"

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace mopvm::decoder
{
/// Which instruction sets and versions a row needs, or an `Isa` has: bits of `Feature`.
using Features = std::uint8_t;

namespace detail
{
/// One bit each.
enum Feature : std::uint8_t
{
    always = 0,
    has_b = 1,
    has_a = 2,
    before_1 = 4,
    from_1 = 8,
};

constexpr Features needed(isa::Extension extension, isa::Versions versions) noexcept
{
    const Feature set = extension == isa::Extension::b   ? has_b
                        : extension == isa::Extension::a ? has_a
                                                         : always;
    const Feature version = versions == isa::Versions::only_0   ? before_1
                            : versions == isa::Versions::from_1 ? from_1
                                                                : always;
    return static_cast<Features>(set | version);
}
}  // namespace detail

/// What @p isa has.
[[nodiscard]] constexpr Features features(const Isa& isa) noexcept
{
    return static_cast<Features>((isa.b ? detail::has_b : detail::always) |
                                 (isa.a ? detail::has_a : detail::always) |
                                 (isa.version == Version::v0 ? detail::before_1 : detail::from_1));
}

namespace detail
{
/// The registers that a word has, always in the same places.
class WordRegisters
{
public:
    WordRegisters() = default;

    consteval explicit WordRegisters(std::string_view pattern)
    {
        const auto has = [](const isa::RegisterField& field, unsigned shift) {
            if (field.mask != 0 && (field.mask != 31 || field.shift != shift))
                throw "a register of a word is elsewhere";
            return field.mask;
        };
        m_rd_rs1 = isa::pack(has(isa::register_field(pattern, 'd'), 7),
                             has(isa::register_field(pattern, 's'), 15), 0);
        m_rs2 = isa::pack(0, 0, has(isa::register_field(pattern, 't'), 20));
    }

    /// As `isa::pack` gives them.
    [[nodiscard]] constexpr std::uint32_t extract(std::uint32_t bits) const noexcept
    {
        return (bits >> 7 & m_rd_rs1) | (bits >> 4 & m_rs2);
    }

private:
    std::uint32_t m_rd_rs1 = 0;
    std::uint32_t m_rs2 = 0;
};

/// The immediate of a word: whatever the format, its bits move by one of five distances.
class WordImmediate
{
public:
    WordImmediate() = default;

    consteval explicit WordImmediate(const isa::ImmediateMap& map)
    {
        for (unsigned from = 0; from < 32; ++from)
            add(from, static_cast<std::uint32_t>(map.extract(std::uint32_t{1} << from)));
        // Every bit goes its way whatever the others are.
        for (unsigned from = 0; from < 32; ++from) {
            if (extract(std::uint32_t{1} << from) != map.extract(std::uint32_t{1} << from))
                throw "the immediate comes out wrong";
        }
    }

    [[nodiscard]] constexpr std::int32_t extract(std::uint32_t bits) const noexcept
    {
        const auto sign_extended =
            static_cast<std::uint32_t>(static_cast<std::int32_t>(bits) >> 20);
        return static_cast<std::int32_t>((sign_extended & m_down_20) | (bits >> 9 & m_down_9) |
                                         (bits >> 7 & m_down_7) | (bits & m_stay) |
                                         (bits << 4 & m_up_4));
    }

private:
    /// Bit @p from of the word makes @p made.
    consteval void add(unsigned from, std::uint32_t made)
    {
        if (made == 0)
            return;
        const int distance = static_cast<int>(from) - std::countr_zero(made);
        if (from == 31 || distance == 20)
            m_down_20 |= made;
        else if (distance == 9)
            m_down_9 |= made;
        else if (distance == 7)
            m_down_7 |= made;
        else if (distance == 0)
            m_stay |= made;
        else if (distance == -4)
            m_up_4 |= made;
        else
            throw "no immediate has moved its bits so far";
    }

    std::uint32_t m_down_20 = 0;  ///< With the sign, bit 31, above.
    std::uint32_t m_down_9 = 0;
    std::uint32_t m_down_7 = 0;
    std::uint32_t m_stay = 0;
    std::uint32_t m_up_4 = 0;
};

/// One 32-bit encoding.
struct WordRow
{
    isa::Encoding<std::uint32_t> encoding;
    WordRegisters registers;
    WordImmediate immediate;
    std::uint32_t opcode_and_length = 0;  ///< As `isa::pack` gives them.
    Features needs = always;
    /// Another row for the same `word_slot`; the last accepts everything.
    std::uint8_t next = 0;

    [[nodiscard]] constexpr bool accepts(std::uint32_t bits, Features available) const noexcept
    {
        return ((bits & encoding.mask) ^ encoding.match) == 0 && (needs & ~available) == 0;
    }
};

consteval WordRow word_row(std::string_view pattern,
                           isa::Opcode opcode,
                           isa::Format format,
                           Features needs)
{
    if (isa::letter_bits(pattern, "ih") != isa::traits(format).immediate.source_bits())
        throw "pattern and format disagree about the immediate";
    return {.encoding = isa::parse_encoding<std::uint32_t>(pattern),
            .registers = WordRegisters{pattern},
            .immediate = WordImmediate{isa::traits(format).immediate},
            .opcode_and_length = isa::pack(opcode, 4),
            .needs = needs};
}

/// Row 0 is that of no instruction.
inline constexpr auto unlinked_word_rows = std::to_array<WordRow>({
    {},
#define MOPVM_INSTRUCTION(id, mnemonic, format, pattern, extension, cost, flow, versions) \
    word_row(pattern, isa::Opcode::id, isa::Format::format,                               \
             needed(isa::Extension::extension, isa::Versions::versions)),
#include "isa/opcodes.inc"
});
static_assert(unlinked_word_rows.size() <= 256);

/// The bits that say most about a word: its opcode and funct3.
constexpr std::size_t word_key(std::uint32_t bits) noexcept
{
    return (bits >> 2 & 31) << 3 | (bits >> 12 & 7);
}
inline constexpr std::size_t word_keys = 256;

/// The words of one key: where they go on by the highest seven bits, as far as these count.
struct WordGroup
{
    std::uint16_t first_slot = 0;
    std::uint8_t counting = 0;
};

constexpr std::size_t slot_in(const WordGroup& group, std::uint32_t bits) noexcept
{
    return group.first_slot + (bits >> 25 & group.counting);
}

/// Calls @p use with every key that words of @p encoding have.
template <typename Use>
consteval void for_each_key(const isa::Encoding<std::uint32_t>& encoding, const Use& use)
{
    const std::size_t fixed = word_key(encoding.mask);
    if (fixed != 0xff && fixed != 0xf8)
        throw "a word fixes its opcode, and all of funct3 or nothing of it";
    const std::size_t first = word_key(encoding.match);
    for (std::size_t key = first; key < first + (fixed == 0xff ? 1 : 8); ++key)
        use(key);
}

inline constexpr auto word_groups = []() consteval {
    std::array<WordGroup, word_keys> groups{};
    for (std::size_t row = 1; row < unlinked_word_rows.size(); ++row) {
        const auto& encoding = unlinked_word_rows[row].encoding;
        for_each_key(encoding, [&](std::size_t key) {
            groups[key].counting |= static_cast<std::uint8_t>(encoding.mask >> 25);
        });
    }
    std::uint16_t next = 0;
    for (WordGroup& group : groups) {
        group.first_slot = next;
        next = static_cast<std::uint16_t>(next + group.counting + 1);
    }
    return groups;
}();
inline constexpr std::size_t word_slot_count = slot_in(word_groups.back(), ~std::uint32_t{0}) + 1;

/// Where the search for a word begins.
struct WordTable
{
    std::array<std::uint8_t, word_slot_count> first_rows{};
    std::array<WordRow, unlinked_word_rows.size()> rows = unlinked_word_rows;
};

inline constexpr auto words = []() consteval {
    WordTable table;
    // From the last row on, as each is put in front.
    for (std::size_t row = table.rows.size(); --row != 0;) {
        WordRow& put = table.rows[row];
        bool linked = false;
        for_each_key(put.encoding, [&](std::size_t key) {
            const WordGroup& group = word_groups[key];
            for (std::uint32_t high = 0; high <= group.counting; ++high) {
                if (((high << 25 ^ put.encoding.match) & put.encoding.mask &
                     std::uint32_t{group.counting} << 25) != 0 ||
                    (high & ~std::uint32_t{group.counting}) != 0)
                    continue;
                std::uint8_t& first = table.first_rows[group.first_slot + high];
                if (linked && put.next != first)
                    throw "a row is followed by others in different slots";
                put.next = first;
                linked = true;
                first = static_cast<std::uint8_t>(row);
            }
        });
    }
    return table;
}();

consteval bool words_are_disjoint()
{
    for (std::size_t i = 1; i < words.rows.size(); ++i) {
        for (std::size_t j = i + 1; j < words.rows.size(); ++j) {
            const auto& x = words.rows[i];
            const auto& y = words.rows[j];
            const bool never_together =
                ((x.needs | y.needs) & (before_1 | from_1)) == (before_1 | from_1);
            if (overlap(x.encoding, y.encoding) && !never_together)
                return false;
        }
    }
    return true;
}
static_assert(words_are_disjoint(), "at most one 32-bit row accepts a word in a version");
}  // namespace detail
}  // namespace mopvm::decoder
