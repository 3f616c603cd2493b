// SPDX-License-Identifier: MIT
// The one matcher of all fusion rules.

#include "fusion/fuser.hpp"

#include "fusion/rules.hpp"
#include "isa/registers.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

namespace mopvm::fusion
{
namespace
{
consteval void add_rule(Head& head, std::size_t row)
{
    const auto& rule = rules[row];
    const auto second = rule.parts[1].opcode;
    if (head.window_size == 0) {
        head.first_rule = static_cast<std::uint8_t>(row);
        head.seconds = {second, second};
    } else if (second != head.seconds[0]) {
        detail::require(head.seconds[0] == head.seconds[1] || second == head.seconds[1],
                        "more than two ways to go on from one head");
        head.seconds[1] = second;
    }
    head.behind_rules = static_cast<std::uint8_t>(row + 1);
    head.window_size = std::max(head.window_size, rule.part_count);
}

consteval Heads heads_of(Version version)
{
    Heads table{};
    for (std::size_t row = 0; row < rules.size(); ++row)
        if (rules[row].applies_to(version))
            add_rule(table[isa::index(rules[row].parts[0].opcode)], row);
    return table;
}

constexpr std::array<Heads, 3> head_tables{heads_of(Version::v0), heads_of(Version::v1),
                                           heads_of(Version::v2)};

/// The register in @p slot.
std::uint8_t at(const Registers& registers, Slot slot) noexcept
{
    return registers[std::to_underlying(slot)];
}

/// Gives the operand's slot @p number, or tells whether it has that number already.
bool bind(Registers& registers, Operand operand, std::uint8_t number) noexcept
{
    auto& bound = registers[std::to_underlying(operand.slot)];
    if (operand.binds)
        bound = number;
    return bound == number;
}

bool bind(Registers& registers, const Part& part, const isa::Instruction& instruction) noexcept
{
    return part.opcode == instruction.opcode && bind(registers, part.rd, instruction.rd) &&
           bind(registers, part.rs1, instruction.rs1) && bind(registers, part.rs2, instruction.rs2);
}

constexpr bool fits_32_bits(std::int64_t value) noexcept
{
    return std::in_range<std::int32_t>(value);
}

bool is_acceptable(Immediate immediate, std::int64_t sum, std::uint64_t pc) noexcept
{
    switch (immediate) {
    case Immediate::none:
    case Immediate::wraps:
        return true;
    case Immediate::fits:
        return fits_32_bits(sum);
    case Immediate::pc_fits:
        return std::in_range<std::int32_t>(pc) && fits_32_bits(sum) &&
               fits_32_bits(sum + static_cast<std::int64_t>(pc));
    }
    std::unreachable();
}

std::optional<isa::Operation> match(const Rule& rule,
                                    std::span<const isa::Instruction> window,
                                    std::uint64_t pc) noexcept
{
    if (window.size() < rule.part_count)
        return std::nullopt;

    Registers registers{};
    registers[std::to_underlying(Slot::ra)] = isa::reg_ra;
    std::int64_t sum = 0;
    std::uint8_t length = 0;
    for (std::size_t i = 0; i < rule.part_count; ++i) {
        if (!bind(registers, rule.parts[i], window[i]))
            return std::nullopt;
        sum += window[i].imm;
        length = static_cast<std::uint8_t>(length + window[i].length);
    }
    for (std::size_t i = 0; i < rule.condition_count; ++i)
        if (at(registers, rule.conditions[i].left) == at(registers, rule.conditions[i].right))
            return std::nullopt;
    if (!is_acceptable(rule.immediate, sum, pc))
        return std::nullopt;

    return isa::Operation{.opcode = rule.opcode,
                          .length = length,
                          .parts = rule.part_count,
                          .rd = at(registers, rule.result[0]),
                          .rs1 = at(registers, rule.result[1]),
                          .rs2 = at(registers, rule.result[2]),
                          .r3 = at(registers, rule.result[3]),
                          .r4 = at(registers, rule.result[4]),
                          .imm = static_cast<std::int32_t>(sum)};
}
}  // namespace

const Heads& heads(Version version) noexcept
{
    return head_tables[std::to_underlying(version)];
}

std::size_t window_size(isa::Opcode head, Version version) noexcept
{
    return heads(version)[isa::index(head)].window_size;
}

std::optional<isa::Operation> fuse(std::span<const isa::Instruction> window,
                                   std::uint64_t pc,
                                   Version version) noexcept
{
    if (window.size() < 2 || window[1].opcode == isa::Opcode::invalid)
        return std::nullopt;
    const Head& head = heads(version)[isa::index(window[0].opcode)];
    // Nearly every head that begins a rule is followed by something else: look at that first.
    if (!head.goes_on_with(window[1].opcode))
        return std::nullopt;
    for (std::size_t row = head.first_rule; row < head.behind_rules; ++row) {
        if (!rules[row].applies_to(version))
            continue;
        if (auto operation = match(rules[row], window, pc))
            return operation;
    }
    return std::nullopt;
}
}  // namespace mopvm::fusion
