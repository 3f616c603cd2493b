// SPDX-License-Identifier: MIT
/// @file
/// From decoded instructions back to bits.
#pragma once

#include "decoder/decoder.hpp"
#include "isa/encoding.hpp"
#include "isa/fields.hpp"
#include "isa/instruction.hpp"
#include "isa/opcode.hpp"

#include <array>
#include <cstdint>
#include <optional>
#include <unordered_map>

namespace mopvm::test
{
/// Everything on, in the version that accepts the most.
inline constexpr decoder::Isa widest_isa{.version = Version::v2, .b = true, .a = true};

/// Where one 32-bit encoding has its fixed bits and its fields.
struct WordLayout
{
    std::uint32_t match = 0;
    std::uint32_t rd = 0;
    std::uint32_t rs1 = 0;
    std::uint32_t rs2 = 0;
    std::uint32_t immediate = 0;
    std::uint32_t ignored = 0;
};

/// Layouts by opcode; that of `invalid` is empty.
inline constexpr auto word_layouts = std::to_array<WordLayout>({
    {},
#define MOPVM_INSTRUCTION(id, mnemonic, format, pattern, extension, cost, flow, versions) \
    {isa::parse_encoding<std::uint32_t>(pattern).match,                                   \
     isa::letter_bits(pattern, "d"),                                                      \
     isa::letter_bits(pattern, "s"),                                                      \
     isa::letter_bits(pattern, "t"),                                                      \
     isa::letter_bits(pattern, "ih"),                                                     \
     isa::letter_bits(pattern, "-")},
#include "isa/opcodes.inc"
});

/// Opcodes that have a 32-bit encoding are those from 1 up to this one, excluded.
inline constexpr std::size_t word_opcode_count = word_layouts.size();

/// The bits of @p immediate where @p format keeps them; those that have no place are lost.
[[nodiscard]] constexpr std::uint32_t immediate_bits(isa::Format format, std::int32_t immediate)
{
    const auto bits = static_cast<std::uint32_t>(immediate);
    switch (format) {
    case isa::Format::upper:
        return bits & 0xfffff000;
    case isa::Format::jump:
        return (bits >> 20 & 1) << 31 | (bits >> 1 & 0x3ff) << 21 | (bits >> 11 & 1) << 20 |
               (bits >> 12 & 0xff) << 12;
    case isa::Format::branch:
        return (bits >> 12 & 1) << 31 | (bits >> 5 & 0x3f) << 25 | (bits >> 1 & 0xf) << 8 |
               (bits >> 11 & 1) << 7;
    case isa::Format::store:
        return (bits >> 5) << 25 | (bits & 0x1f) << 7;
    default:
        return bits << 20;
    }
}

/// The 32-bit encoding of @p instruction, which has one; @p free fills the bits that nobody looks
/// at.
[[nodiscard]] constexpr std::uint32_t encode(const isa::Instruction& instruction,
                                             std::uint32_t free = 0)
{
    const WordLayout& layout = word_layouts[isa::index(instruction.opcode)];
    const isa::Format format = isa::traits(instruction.opcode).format;
    return layout.match | (std::uint32_t{instruction.rd} << 7 & layout.rd) |
           (std::uint32_t{instruction.rs1} << 15 & layout.rs1) |
           (std::uint32_t{instruction.rs2} << 20 & layout.rs2) |
           (immediate_bits(format, instruction.imm) & layout.immediate) | (free & layout.ignored);
}

namespace detail
{
/// What a 16-bit instruction is looked up by.
[[nodiscard]] inline std::uint64_t expansion_key(const isa::Instruction& instruction)
{
    // JALR has an opcode for each version and one compressed form for both.
    const isa::Opcode opcode =
        instruction.opcode == isa::Opcode::jalr_v0 ? isa::Opcode::jalr : instruction.opcode;
    return isa::index(opcode) << 48 | std::uint64_t{instruction.rd} << 42 |
           std::uint64_t{instruction.rs1} << 37 | std::uint64_t{instruction.rs2} << 32 |
           static_cast<std::uint32_t>(instruction.imm);
}
}  // namespace detail

/// The 16-bit encoding that expands to @p instruction, if there is one.
[[nodiscard]] inline std::optional<std::uint16_t> compress(const isa::Instruction& instruction)
{
    static const std::unordered_map<std::uint64_t, std::uint16_t> encodings = [] {
        std::unordered_map<std::uint64_t, std::uint16_t> made;
        for (std::uint32_t half = 0; half <= 0xffff; ++half) {
            if (!decoder::is_compressed(half))
                continue;
            const isa::Instruction expansion = decoder::decode(half, widest_isa);
            // The first is the one that every version accepts: HINTs have greater encodings.
            if (expansion.opcode != isa::Opcode::invalid)
                made.emplace(detail::expansion_key(expansion), static_cast<std::uint16_t>(half));
        }
        return made;
    }();
    const auto found = encodings.find(detail::expansion_key(instruction));
    return found == encodings.end() ? std::nullopt : std::optional{found->second};
}
}  // namespace mopvm::test
