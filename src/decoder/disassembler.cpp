// SPDX-License-Identifier: MIT
// The disassembler: names and forms come from the tables, nothing is spelled here.
#include "decoder/disassembler.hpp"

#include "isa/compressed.hpp"
#include "isa/formats.hpp"
#include "isa/opcode.hpp"
#include "isa/spelling.hpp"

#include <array>
#include <cstddef>

namespace mopvm::decoder
{
namespace
{
using isa::Format;
using isa::Opcode;
using isa::Operation;

/// What an alias demands: fields that have a certain value.
class Condition
{
public:
    /// Parses the notation of aliases.inc; anything else does not compile.
    consteval explicit Condition(std::string_view text)
    {
        for (std::size_t at = 0; at < text.size(); ++m_count) {
            if (m_count != 0 && text[at++] != ' ')
                throw "terms are separated by one space";
            Term& term = m_terms.at(m_count);
            term.field = text.at(at++);
            if (!std::string_view{"dstin"}.contains(term.field) || text.at(at++) != '=')
                throw "a term is field=value";
            const bool negative = text.at(at) == '-';
            at += negative ? 1 : 0;
            for (; at < text.size() && text[at] != ' '; ++at) {
                if (text[at] < '0' || text[at] > '9')
                    throw "values are decimal";
                term.value = term.value * 10 + (text[at] - '0');
            }
            term.value = negative ? -term.value : term.value;
        }
    }

    [[nodiscard]] bool holds(const Operation& operation) const noexcept
    {
        for (std::size_t i = 0; i < m_count; ++i) {
            if (value(m_terms[i].field, operation) != m_terms[i].value)
                return false;
        }
        return true;
    }

private:
    struct Term
    {
        char field = 0;
        std::int32_t value = 0;
    };

    static std::int32_t value(char field, const Operation& operation) noexcept
    {
        switch (field) {
        case 'd':
            return operation.rd;
        case 's':
            return operation.rs1;
        case 't':
            return operation.rs2;
        case 'n':
            return operation.length;
        default:
            return operation.imm;
        }
    }

    std::array<Term, 3> m_terms{};
    std::size_t m_count = 0;
};

/// When a row of aliases.inc applies.
enum class Use : std::uint8_t
{
    aliases,
    always,
};

/// A row of aliases.inc.
struct Alias
{
    std::string_view mnemonic;
    Opcode operation = Opcode::invalid;
    Condition condition;
    std::string_view operands;
    Use use = Use::aliases;
};

constexpr auto alias_rows = std::to_array<Alias>({
#define MOPVM_ALIAS(mnemonic, operation, condition, operands, use) \
    {mnemonic, Opcode::operation, Condition(condition), operands, Use::use},
#include "isa/aliases.inc"
});

const Alias* find_alias(const Operation& operation, Spelling spelling) noexcept
{
    for (const Alias& row : alias_rows) {
        // By name, because an operation may be another one in version 0.
        if (isa::traits(row.operation).mnemonic == isa::traits(operation.opcode).mnemonic &&
            (row.use == Use::always || spelling == Spelling::aliases) &&
            row.condition.holds(operation))
            return &row;
    }
    return nullptr;
}

Disassembly undecodable(std::uint32_t bits)
{
    Disassembly line;
    line.mnemonic = ".half";
    line.operands = "0x" + isa::hex(bits & 0xffff, 4);
    line.length = 2;
    if (!is_compressed(bits)) {
        line.operands += ",0x" + isa::hex(bits >> 16, 4);
        line.length = 4;
    }
    return line;
}

/// The ordering of an atomic instruction, which the machine ignores.
std::string_view ordering_suffix(std::uint32_t bits) noexcept
{
    constexpr std::array<std::string_view, 4> suffixes{"", ".rl", ".aq", ".aqrl"};
    return suffixes[bits >> 25 & 3];
}

void spell_compressed(const isa::CompressedRow& row,
                      Operation operation,
                      Disassembly& line,
                      std::uint32_t bits)
{
    if (row.kind == isa::CompressedRow::Kind::hint) {
        operation.rd = row.rd.extract(bits);
        operation.rs1 = row.rs1.extract(bits);
        operation.rs2 = row.rs2.extract(bits);
        operation.imm = row.immediate.extract(bits);
    }
    line.mnemonic = row.mnemonic;
    line.operands = isa::spell_operands(row.operands, operation);
}

void spell_expanded(const Operation& operation,
                    Spelling spelling,
                    Disassembly& line,
                    std::uint32_t bits)
{
    if (const Alias* alias = find_alias(operation, spelling)) {
        line.mnemonic = alias->mnemonic;
        line.operands = isa::spell_operands(alias->operands, operation);
        return;
    }
    const isa::Traits& traits = isa::traits(operation.opcode);
    line.mnemonic = traits.mnemonic;
    if (traits.format == Format::reserve || traits.format == Format::atomic)
        line.mnemonic += ordering_suffix(bits);
    line.operands = isa::spell_operands(isa::traits(traits.format).operands, operation);
}
}  // namespace

std::string Disassembly::all_operands(std::string_view symbol) const
{
    std::string all = operands;
    if (!target)
        return all;
    if (!all.empty())
        all += ',';
    if (symbol.empty())
        return all + "0x" + isa::hex(*target);
    all += isa::hex(*target) + " <";
    all += symbol;
    return all + '>';
}

std::string Disassembly::text(std::string_view symbol) const
{
    const std::string all = all_operands(symbol);
    return all.empty() ? mnemonic : mnemonic + ' ' + all;
}

Disassembly disassemble(std::uint32_t bits, std::uint64_t pc, const Isa& isa, Spelling spelling)
{
    const Operation operation = isa::to_operation(decode(bits, isa));
    if (operation.opcode == Opcode::invalid)
        return undecodable(bits);

    Disassembly line;
    line.target = isa::target(operation, pc);
    line.length = operation.length;
    if (is_compressed(bits)) {
        const isa::CompressedRow& row = isa::find_compressed(static_cast<std::uint16_t>(bits));
        // A HINT is shown as what it is, not as the nop that it decodes to.
        if (row.kind == isa::CompressedRow::Kind::hint || spelling == Spelling::no_aliases) {
            spell_compressed(row, operation, line, bits);
            return line;
        }
    }
    spell_expanded(operation, spelling, line, bits);
    return line;
}
}  // namespace mopvm::decoder
