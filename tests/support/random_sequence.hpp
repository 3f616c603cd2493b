// SPDX-License-Identifier: MIT
/// @file
/// Instances of the fusion rules, and sequences that are nearly one.
#pragma once

#include "fusion/rules.hpp"
#include "isa/instruction.hpp"
#include "isa/opcode.hpp"
#include "isa/registers.hpp"
#include "support/choices.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace mopvm::test
{
/// An immediate of twelve bits: small, at an end of the range, or any.
[[nodiscard]] inline std::int32_t any_immediate(Choices& choices)
{
    const auto near = static_cast<std::int32_t>(choices.between(-16, 16));
    const auto any = static_cast<std::int32_t>(choices.between(-2048, 2047));
    return choices.one_of<std::int32_t>({near, near, any, -2048, 2047, 0, -1, 1});
}

/// An immediate of LUI or AUIPC, at an end of the range or any.
[[nodiscard]] inline std::int32_t any_upper(Choices& choices)
{
    const std::uint32_t any = choices.bits32();
    return static_cast<std::int32_t>(
        choices.one_of<std::uint32_t>({any, 0x80000000, 0x7ffff000, 0, 0x1000, 0xfffff000}) &
        0xfffff000);
}

namespace detail
{
[[nodiscard]] inline bool conditions_hold(const fusion::Rule& rule,
                                          const fusion::Registers& registers)
{
    return std::ranges::all_of(std::span{rule.conditions}.first(rule.condition_count),
                               [&](const auto& condition) {
                                   return registers[std::to_underlying(condition.left)] !=
                                          registers[std::to_underlying(condition.right)];
                               });
}

[[nodiscard]] inline isa::Instruction instance(const fusion::Part& part,
                                               const fusion::Registers& registers,
                                               Choices& choices)
{
    const auto reg = [&](fusion::Operand operand) {
        return registers[std::to_underlying(operand.slot)];
    };
    const isa::Format format = isa::traits(part.opcode).format;
    isa::Instruction made{.opcode = part.opcode, .rd = reg(part.rd), .length = 4};
    if (format != isa::Format::upper)
        made.rs1 = reg(part.rs1);
    if (format == isa::Format::reg)
        made.rs2 = reg(part.rs2) & 31;
    else
        made.imm = format == isa::Format::upper ? any_upper(choices) : any_immediate(choices);
    return made;
}
}  // namespace detail

/// The sequence of any rule, each instruction four bytes long. @p any_register gives the slots
/// their registers; conditions mostly hold.
template <typename AnyRegister>
[[nodiscard]] std::vector<isa::Instruction> any_sequence(Choices& choices,
                                                         const AnyRegister& any_register)
{
    const fusion::Rule& rule = choices.one_of(fusion::rules);
    fusion::Registers registers{};
    for (int tries = 0; tries < 4; ++tries) {
        for (std::uint8_t& reg : registers)
            reg = any_register();
        registers[std::to_underlying(fusion::Slot::zero)] = isa::reg_zero;
        registers[std::to_underlying(fusion::Slot::ra)] = isa::reg_ra;
        if (detail::conditions_hold(rule, registers))
            break;
    }
    std::vector<isa::Instruction> parts;
    for (const fusion::Part& part : std::span{rule.parts}.first(rule.part_count))
        parts.push_back(detail::instance(part, registers, choices));
    return parts;
}

/// Makes a near miss of @p parts: another register, an instruction more or less, another order.
template <typename AnyRegister>
void spoil(std::vector<isa::Instruction>& parts, Choices& choices, const AnyRegister& any_register)
{
    const std::size_t at = choices.below(parts.size());
    const auto position = parts.begin() + static_cast<std::ptrdiff_t>(at);
    switch (choices.below(6)) {
    case 0:
        position->rd = any_register();
        break;
    case 1:
        position->rs1 = any_register();
        break;
    case 2:
        position->rs2 = any_register() & 31;
        break;
    case 3:
        parts.insert(position, isa::Instruction{.opcode = isa::Opcode::addi, .length = 4});
        break;
    case 4:
        std::iter_swap(position, parts.begin());
        break;
    default:
        parts.resize(at + 1);
        break;
    }
}
}  // namespace mopvm::test
