// SPDX-License-Identifier: MIT
/// @file
/// Bits to instructions, exactly as far as each version of the machine accepts them.
#pragma once

#include "isa/instruction.hpp"

#include <mopvm/config.hpp>

#include <cstdint>

namespace mopvm::decoder
{
/// The instruction set that a machine decodes.
struct Isa
{
    Version version = Version::v2;
    bool b = false;
    bool a = false;

    friend bool operator==(const Isa&, const Isa&) = default;
};

/// True when @p bits begin with a 16-bit instruction.
[[nodiscard]] constexpr bool is_compressed(std::uint32_t bits) noexcept
{
    return (bits & 3) != 3;
}

/// Decodes @p bits: a halfword zero-extended when `is_compressed`, else a word.
/// @return an instruction with opcode `invalid` and length 0 when @p isa does not accept it.
[[nodiscard]] isa::Instruction decode(std::uint32_t bits, const Isa& isa) noexcept;
}  // namespace mopvm::decoder
