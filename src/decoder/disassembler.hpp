// SPDX-License-Identifier: MIT
/// @file
/// Bits to text, in GNU spelling.
#pragma once

#include "decoder/decoder.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace mopvm::decoder
{
/// How instructions are spelled.
enum class Spelling : std::uint8_t
{
    aliases,     ///< `ret`, `li a0,1`, `mv a0,a1`; compressed instructions as what they expand to
    no_aliases,  ///< `jalr zero,0(ra)`, `c.li a0,1`, `c.mv a0,a1`
};

/// One line of a disassembly.
struct Disassembly
{
    std::string mnemonic;
    std::string operands;  ///< Without the target.
    /// Where a branch or a jump goes; nothing when that is in a register.
    std::optional<std::uint64_t> target;
    /// Bytes that the line stands for: 2 or 4, also when they are no instruction.
    std::uint8_t length = 0;

    /// The operands with the target at their end: `a0,a1,0x10078`, or `a0,a1,10078 <loop+0x4>` when
    /// the caller knows that place as @p symbol (`loop+0x4`). May throw `std::bad_alloc`.
    [[nodiscard]] std::string all_operands(std::string_view symbol = {}) const;

    /// Mnemonic, one space, and `all_operands`. May throw `std::bad_alloc`.
    [[nodiscard]] std::string text(std::string_view symbol = {}) const;
};

/// Disassembles @p bits (as `decode` takes them) at address @p pc. What @p isa does not accept
/// becomes
/// `.half` with the halfword, or with both halfwords of the word. May throw `std::bad_alloc`.
[[nodiscard]] Disassembly disassemble(std::uint32_t bits,
                                      std::uint64_t pc,
                                      const Isa& isa,
                                      Spelling spelling = Spelling::aliases);
}  // namespace mopvm::decoder
