// SPDX-License-Identifier: MIT
/// @file
/// Operands and operations as text, in GNU spelling.
///
/// A *form* says how operands are written. Its letters stand for fields, all else for itself:
/// d, s, t = registers rd, rs1, rs2; v, w = the slots r3, r4 of fused operations; i = immediate,
/// decimal; x = immediate, hexadecimal; u = bits 31 to 12 of the immediate, hexadecimal;
/// f = predecessor and successor set of a fence. A pc-relative target is no part of a form.
#pragma once

#include "isa/instruction.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace mopvm::isa
{
/// @p value in hexadecimal, lower case, without prefix, with at least @p digits digits (at most
/// 16). May throw `std::bad_alloc`.
[[nodiscard]] std::string hex(std::uint64_t value, std::size_t digits = 1);

/// The operands of @p operation as @p form says. May throw `std::bad_alloc`.
[[nodiscard]] std::string spell_operands(std::string_view form, const Operation& operation);

/// The address to which @p operation at address @p pc jumps or branches; nothing when it does
/// neither or takes the target from a register.
[[nodiscard]] std::optional<std::uint64_t> target(const Operation& operation,
                                                  std::uint64_t pc) noexcept;

/// @p operation at address @p pc as one line, without aliases: `addi sp,sp,-16`,
/// `beq a0,a1,0x10078`; a fused one with its rule's name and its register slots:
/// `wide_mul a0,a1,a2,a3`. May throw `std::bad_alloc`.
[[nodiscard]] std::string spell(const Operation& operation, std::uint64_t pc);
}  // namespace mopvm::isa
