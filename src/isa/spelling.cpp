// SPDX-License-Identifier: MIT
// Operands and operations as text.
#include "isa/spelling.hpp"

#include "isa/formats.hpp"
#include "isa/registers.hpp"

#include <array>
#include <charconv>

namespace mopvm::isa
{
namespace
{
void append_fence_set(std::string& text, std::uint32_t set)
{
    constexpr std::string_view names = "wroi";
    if (set == 0)
        text += "unknown";
    for (unsigned bit = 4; bit-- != 0;) {
        if ((set >> bit & 1) != 0)
            text += names[bit];
    }
}

void append_field(std::string& text, char letter, const Operation& operation)
{
    const auto bits = static_cast<std::uint32_t>(operation.imm);
    switch (letter) {
    case 'd':
        text += register_names[operation.rd];
        break;
    case 's':
        text += register_names[operation.rs1];
        break;
    case 't':
        text += register_names[operation.rs2];
        break;
    case 'v':
        text += register_names[operation.r3];
        break;
    case 'w':
        text += register_names[operation.r4];
        break;
    case 'i':
        text += std::to_string(operation.imm);
        break;
    case 'x':
        text += "0x" + hex(bits);
        break;
    case 'u':
        text += "0x" + hex(bits >> 12);
        break;
    case 'f':
        append_fence_set(text, bits >> 4 & 15);
        text += ',';
        append_fence_set(text, bits & 15);
        break;
    default:
        text += letter;
    }
}

/// The form of @p opcode; fused operations show the slots that their rule has.
std::string_view form(Opcode opcode) noexcept
{
    switch (opcode) {
    case Opcode::adc:
        return "d,s,t";
    case Opcode::sbb:
    case Opcode::adcs:
    case Opcode::sbbs:
    case Opcode::wide_mul:
    case Opcode::wide_mulu:
    case Opcode::wide_mulsu:
    case Opcode::wide_div:
    case Opcode::wide_divu:
        return "d,s,t,v";
    case Opcode::far_jump_rel:
    case Opcode::far_jump_abs:
        return "d";
    case Opcode::load_const_lui:
    case Opcode::load_const_auipc:
        return "d,i";
    default:
        return traits(traits(opcode).format).operands;
    }
}
}  // namespace

std::string hex(std::uint64_t value, std::size_t digits)
{
    std::array<char, 16> buffer{};
    auto* const end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value, 16).ptr;
    std::string text{buffer.data(), end};
    if (text.size() < digits)
        text.insert(0, digits - text.size(), '0');
    return text;
}

std::string spell_operands(std::string_view form, const Operation& operation)
{
    std::string text;
    for (const char letter : form)
        append_field(text, letter, operation);
    return text;
}

std::optional<std::uint64_t> target(const Operation& operation, std::uint64_t pc) noexcept
{
    const auto offset = static_cast<std::uint64_t>(std::int64_t{operation.imm});
    switch (operation.opcode) {
    case Opcode::far_jump_rel:
        return (pc + offset) & ~std::uint64_t{1};
    case Opcode::far_jump_abs:
        return offset & ~std::uint64_t{1};
    default:
        break;
    }
    const Flow flow = traits(operation.opcode).flow;
    if (flow != Flow::branch && flow != Flow::jump)
        return std::nullopt;
    return pc + offset;
}

std::string spell(const Operation& operation, std::uint64_t pc)
{
    std::string text{traits(operation.opcode).mnemonic};
    const std::string operands = spell_operands(form(operation.opcode), operation);
    const auto address = target(operation, pc);
    if (!operands.empty() || address)
        text += ' ';
    text += operands;
    if (address) {
        if (!operands.empty())
            text += ',';
        text += "0x" + hex(*address);
    }
    return text;
}
}  // namespace mopvm::isa
