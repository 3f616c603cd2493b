// SPDX-License-Identifier: MIT
/// @file
/// How the decoder's tables hold what they say about an instruction.
#pragma once

#include "isa/encoding.hpp"
#include "isa/instruction.hpp"

#include <cstdint>

namespace mopvm::decoder::detail
{
/// The register fields of an instruction, as bytes: rd, rs1, rs2.
constexpr std::uint32_t pack(std::uint8_t rd, std::uint8_t rs1, std::uint8_t rs2) noexcept
{
    return std::uint32_t{rd} | std::uint32_t{rs1} << 8 | std::uint32_t{rs2} << 16;
}

/// An instruction whose registers are as `pack` gives them.
constexpr isa::Instruction instruction(isa::Opcode opcode,
                                       std::uint8_t length,
                                       std::uint32_t registers,
                                       std::int32_t imm) noexcept
{
    return {.opcode = opcode,
            .rd = static_cast<std::uint8_t>(registers),
            .rs1 = static_cast<std::uint8_t>(registers >> 8),
            .rs2 = static_cast<std::uint8_t>(registers >> 16),
            .length = length,
            .imm = imm};
}

/// True when some bits are accepted by both.
template <typename Word>
constexpr bool overlap(const isa::Encoding<Word>& x, const isa::Encoding<Word>& y) noexcept
{
    return ((x.match ^ y.match) & x.mask & y.mask) == 0;
}

/// True when @p outer accepts all that both @p x and @p y accept; they must overlap.
template <typename Word>
constexpr bool contains_common(const isa::Encoding<Word>& outer,
                               const isa::Encoding<Word>& x,
                               const isa::Encoding<Word>& y) noexcept
{
    const auto mask = static_cast<Word>(x.mask | y.mask);
    const auto match = static_cast<Word>(x.match | y.match);
    return (outer.mask & ~mask) == 0 && outer.accepts(match);
}
}  // namespace mopvm::decoder::detail
