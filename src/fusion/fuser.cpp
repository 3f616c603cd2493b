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
/// The rules that begin with one opcode in one version.
struct Candidates
{
    std::uint8_t first = 0;  ///< Index of the first row.
    std::uint8_t last = 0;   ///< Index behind the last row; rows of other versions may lie between.
    std::uint8_t window_size = 0;                 ///< Parts of the longest.
    std::array<isa::Opcode, 2> second_opcodes{};  ///< What their second part can be.
};

using CandidateTable = std::array<Candidates, isa::opcode_count>;

consteval void add_candidate(Candidates& candidates, std::size_t row)
{
    const auto& rule = rules[row];
    const auto second = rule.parts[1].opcode;
    auto& seconds = candidates.second_opcodes;
    if (candidates.window_size == 0) {
        candidates.first = static_cast<std::uint8_t>(row);
        seconds = {second, second};
    } else if (second != seconds[0]) {
        detail::require(seconds[0] == seconds[1] || second == seconds[1],
                        "more than two ways to go on from one head");
        seconds[1] = second;
    }
    candidates.last = static_cast<std::uint8_t>(row + 1);
    candidates.window_size = std::max(candidates.window_size, rule.part_count);
}

consteval CandidateTable candidates_of(Version version)
{
    CandidateTable table{};
    for (std::size_t row = 0; row < rules.size(); ++row)
        if (rules[row].applies_to(version))
            add_candidate(table[isa::index(rules[row].parts[0].opcode)], row);
    return table;
}

constexpr std::array<CandidateTable, 3> candidate_tables{
    candidates_of(Version::v0), candidates_of(Version::v1), candidates_of(Version::v2)};

constexpr const Candidates& candidates_for(isa::Opcode head, Version version) noexcept
{
    return candidate_tables[std::to_underlying(version)][isa::index(head)];
}

constexpr auto window_size_tables = []() consteval {
    std::array<WindowSizes, candidate_tables.size()> tables{};
    for (std::size_t version = 0; version < tables.size(); ++version)
        for (std::size_t head = 0; head < isa::opcode_count; ++head)
            tables[version][head] = candidate_tables[version][head].window_size;
    return tables;
}();

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

const WindowSizes& window_sizes(Version version) noexcept
{
    return window_size_tables[std::to_underlying(version)];
}

std::size_t window_size(isa::Opcode head, Version version) noexcept
{
    return window_sizes(version)[isa::index(head)];
}

bool may_begin(isa::Opcode head, isa::Opcode second, Version version) noexcept
{
    const auto& candidates = candidates_for(head, version);
    return candidates.window_size != 0 &&
           (second == candidates.second_opcodes[0] || second == candidates.second_opcodes[1]);
}

std::optional<isa::Operation> fuse(std::span<const isa::Instruction> window,
                                   std::uint64_t pc,
                                   Version version) noexcept
{
    if (window.size() < 2 || !may_begin(window[0].opcode, window[1].opcode, version))
        return std::nullopt;
    const auto& candidates = candidates_for(window[0].opcode, version);
    for (std::size_t row = candidates.first; row < candidates.last; ++row) {
        if (!rules[row].applies_to(version))
            continue;
        if (auto operation = match(rules[row], window, pc))
            return operation;
    }
    return std::nullopt;
}
}  // namespace mopvm::fusion
