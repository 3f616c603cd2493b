// SPDX-License-Identifier: MIT
/// @file
/// The rows of rules.inc, read and checked by the compiler: a malformed row does not compile.
#pragma once

#include "fusion/fuser.hpp"
#include "isa/opcode.hpp"
#include "isa/registers.hpp"

#include <mopvm/config.hpp>
#include <mopvm/stats.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>

namespace mopvm::fusion
{
/// What the spelling of a register in rules.inc names: an index into `Registers`.
enum class Slot : std::uint8_t
{
    r0,
    r1,
    r2,
    r3,
    r4,
    zero,     ///< Always x0.
    ra,       ///< Always x1.
    ignored,  ///< Whatever stands there.
};

/// Number of enumerators of Slot.
inline constexpr std::size_t slot_count = 8;

/// Register numbers by `Slot`.
using Registers = std::array<std::uint8_t, slot_count>;

/// How a rule makes the immediate of its operation.
enum class Immediate : std::uint8_t
{
    none,     ///< The operation has none.
    wraps,    ///< The sum of the parts' immediates modulo 2^32.
    fits,     ///< The sum; no match unless it fits signed 32 bits.
    pc_fits,  ///< The sum; no match unless pc, sum, and sum + pc each fit signed 32 bits.
};

/// One register operand of a part.
struct Operand
{
    Slot slot = Slot::ignored;
    bool binds = true;  ///< The first to name its slot gives it its register, all others compare.
};

/// One instruction of a sequence. Operands that its format does not have are `ignored`.
struct Part
{
    isa::Opcode opcode{};
    Operand rd;
    Operand rs1;
    Operand rs2;
};

/// Two slots whose register numbers must differ.
struct Inequality
{
    Slot left{};
    Slot right{};
};

/// The most inequalities that a rule has.
inline constexpr std::size_t max_conditions = 10;

/// One row of rules.inc.
struct Rule
{
    isa::Opcode opcode{};  ///< The fused operation.
    Version since{};
    Version until{};
    Immediate immediate{};
    std::uint8_t part_count = 0;
    std::uint8_t condition_count = 0;
    std::array<Part, max_parts> parts{};
    std::array<Inequality, max_conditions> conditions{};
    /// What goes to rd, rs1, rs2, r3 and r4 of the operation.
    std::array<Slot, 5> result{Slot::zero, Slot::zero, Slot::zero, Slot::zero, Slot::zero};

    /// True when @p version has this rule.
    [[nodiscard]] constexpr bool applies_to(Version version) const noexcept
    {
        return since <= version && version <= until;
    }
};

namespace detail
{
/// Never defined: a constant expression that reaches it does not compile, and the diagnostic shows
/// @p reason.
void malformed_rule(const char* reason);

consteval void require(bool holds, const char* reason)
{
    if (!holds)
        malformed_rule(reason);
}

/// Reads words and symbols off a text; blanks between them mean nothing.
class Scanner
{
public:
    consteval explicit Scanner(std::string_view text) : m_rest{text} { skip_blanks(); }

    [[nodiscard]] consteval bool at_end() const { return m_rest.empty(); }

    consteval std::string_view word()
    {
        std::size_t length = 0;
        while (length < m_rest.size() && is_word_character(m_rest[length]))
            ++length;
        require(length != 0, "a word is missing");
        const auto result = m_rest.substr(0, length);
        m_rest.remove_prefix(length);
        skip_blanks();
        return result;
    }

    consteval void symbol(std::string_view expected)
    {
        require(m_rest.starts_with(expected), "a symbol is missing");
        m_rest.remove_prefix(expected.size());
        skip_blanks();
    }

private:
    static consteval bool is_word_character(char c)
    {
        return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' || c == '.';
    }

    consteval void skip_blanks()
    {
        while (m_rest.starts_with(' '))
            m_rest.remove_prefix(1);
    }

    std::string_view m_rest;
};

/// Builds a `Rule` from the columns of its row.
class RuleReader
{
public:
    consteval RuleReader(isa::Opcode opcode, Version since, Version until, Immediate immediate)
        : m_rule{.opcode = opcode, .since = since, .until = until, .immediate = immediate}
    {
        require(isa::is_fused(opcode), "not a fused operation");
        require(Version::v1 <= since && since <= until, "not a range of versions that fuse");
    }

    consteval Rule read(std::string_view sequence,
                        std::string_view conditions,
                        std::string_view result)
    {
        read_sequence(Scanner{sequence});
        read_conditions(Scanner{conditions});
        read_result(Scanner{result});
        return m_rule;
    }

private:
    consteval void read_sequence(Scanner text)
    {
        read_part(text);
        while (!text.at_end()) {
            text.symbol(";");
            read_part(text);
        }
        require(m_rule.part_count >= 2, "nothing to fuse");
        require(m_rule.part_count == isa::traits(m_rule.opcode).parts,
                "not as many parts as opcodes.inc says");
        require(m_has_immediate == (m_rule.immediate != Immediate::none),
                "immediates and the immediate column disagree");
    }

    consteval void read_part(Scanner& text)
    {
        require(m_rule.part_count < max_parts, "more parts than max_parts");
        auto& part = m_rule.parts[m_rule.part_count++];
        part.opcode = read_mnemonic(text.word());
        part.rd = read_operand(text.word());
        text.symbol(",");
        switch (isa::traits(part.opcode).format) {
        case isa::Format::upper:
            read_immediate(text, "hi");
            break;
        case isa::Format::indirect:
            read_immediate(text, "lo");
            text.symbol("(");
            part.rs1 = read_operand(text.word());
            text.symbol(")");
            break;
        case isa::Format::immediate:
            part.rs1 = read_operand(text.word());
            text.symbol(",");
            read_immediate(text, "lo");
            break;
        default:
            require(isa::traits(part.opcode).format == isa::Format::reg,
                    "no rule can be made of instructions of this format");
            part.rs1 = read_operand(text.word());
            text.symbol(",");
            part.rs2 = read_operand(text.word());
            break;
        }
    }

    static consteval isa::Opcode read_mnemonic(std::string_view word)
    {
        for (std::size_t i = 1; i < isa::opcode_count; ++i) {
            const auto opcode = static_cast<isa::Opcode>(i);
            const auto& traits = isa::traits(opcode);
            if (traits.mnemonic == word && !isa::is_fused(opcode) &&
                traits.versions != isa::Versions::only_0)
                return opcode;
        }
        require(false, "not a mnemonic");
        return isa::Opcode::invalid;
    }

    consteval Operand read_operand(std::string_view word)
    {
        if (word == "_")
            return {};
        if (word == "ra")
            return {.slot = Slot::ra, .binds = false};
        const auto slot = read_slot(word);
        auto& bound = m_bound[std::to_underlying(slot)];
        return {.slot = slot, .binds = !std::exchange(bound, true)};
    }

    consteval void read_immediate(Scanner& text, std::string_view name)
    {
        require(text.word() == name, "hi or lo is missing, or one stands where the other should");
        m_has_immediate = true;
    }

    consteval void read_conditions(Scanner text)
    {
        while (!text.at_end()) {
            require(m_rule.condition_count < max_conditions, "more than max_conditions");
            auto& condition = m_rule.conditions[m_rule.condition_count++];
            condition.left = read_bound_slot(text.word());
            text.symbol("!=");
            const auto right = text.word();
            condition.right = right == "0" ? Slot::zero : read_bound_slot(right);
            require(condition.left != condition.right, "a condition that never holds");
        }
    }

    consteval void read_result(Scanner text)
    {
        std::size_t count = 0;
        while (!text.at_end()) {
            require(count < m_rule.result.size(), "more results than an operation has slots");
            const auto word = text.word();
            m_rule.result[count++] = word == "ra" ? Slot::ra : read_bound_slot(word);
        }
        require(count != 0, "no result");
    }

    [[nodiscard]] consteval Slot read_bound_slot(std::string_view word) const
    {
        const auto slot = read_slot(word);
        require(m_bound[std::to_underlying(slot)], "a slot that is not in the sequence");
        return slot;
    }

    static consteval Slot read_slot(std::string_view word)
    {
        require(word.size() == 2 && word[0] == 'r' && word[1] >= '0' && word[1] <= '4',
                "not the name of a slot");
        return static_cast<Slot>(word[1] - '0');
    }

    Rule m_rule;
    std::array<bool, slot_count> m_bound{};
    bool m_has_immediate = false;
};
}  // namespace detail

/// All rows, in the order of trying.
inline constexpr auto rules = std::to_array<Rule>({
#define MOPVM_FUSION_RULE(rule, since, until, sequence, conditions, immediate, result)          \
    detail::RuleReader{isa::Opcode::rule, Version::since, Version::until, Immediate::immediate} \
        .read(sequence, conditions, result),
#include "fusion/rules.inc"
});

namespace detail
{
consteval bool has_row(isa::Opcode opcode)
{
    return std::ranges::any_of(rules, [&](const Rule& rule) { return rule.opcode == opcode; });
}

consteval bool same_heads_stand_together()
{
    for (std::size_t i = 2; i < rules.size(); ++i) {
        const auto head = rules[i].parts[0].opcode;
        if (head == rules[i - 1].parts[0].opcode)
            continue;
        for (std::size_t j = 0; j + 1 < i; ++j)
            if (rules[j].parts[0].opcode == head)
                return false;
    }
    return true;
}

// Every fused operation of opcodes.inc: it has a row, and it stands where FusionRule has it.
#define MOPVM_FUSED(id, parts, cost, flow)                                               \
    static_assert(has_row(isa::Opcode::id), #id " has no row in rules.inc");             \
    static_assert(isa::index(isa::Opcode::id) ==                                         \
                      isa::index(isa::Opcode::adc) + std::to_underlying(FusionRule::id), \
                  #id " is not where FusionRule has it");
#include "isa/opcodes.inc"

static_assert(same_heads_stand_together());
static_assert(fusion_rule_count == 16);
static_assert(isa::opcode_count - isa::index(isa::Opcode::adc) == fusion_rule_count);
static_assert(isa::reg_zero == 0 && isa::reg_ra == 1);
}  // namespace detail
}  // namespace mopvm::fusion
