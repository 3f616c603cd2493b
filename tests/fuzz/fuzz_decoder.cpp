// SPDX-License-Identifier: MIT
// Any bits as instructions: what decoding and disassembling promise, for every instruction set.

#include "decoder/decoder.hpp"
#include "decoder/disassembler.hpp"
#include "isa/compressed.hpp"
#include "isa/formats.hpp"
#include "isa/opcode.hpp"
#include "support/encode.hpp"
#include "support/fuzz_check.hpp"
#include "support/operand_reader.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

namespace
{
using namespace mopvm;
using decoder::Isa;
using isa::Instruction;
using isa::Opcode;

constexpr std::uint64_t some_pc = 0x7ffff000;

bool has_extension(const Isa& isa, isa::Extension extension)
{
    switch (extension) {
    case isa::Extension::i:
    case isa::Extension::m:
        return true;
    case isa::Extension::b:
        return isa.b;
    case isa::Extension::a:
        return isa.a;
    case isa::Extension::fused:
        break;
    }
    return false;
}

bool has_version(Version version, isa::Versions versions)
{
    return versions == isa::Versions::all ||
           (version == Version::v0) == (versions == isa::Versions::only_0);
}

/// True when @p instruction is something that @p isa may give for @p bits.
bool is_plausible(const Instruction& instruction, std::uint32_t bits, const Isa& isa)
{
    if (instruction.opcode == Opcode::invalid)
        return instruction == Instruction{};
    const isa::Traits& traits = isa::traits(instruction.opcode);
    if (isa::is_fused(instruction.opcode) || !has_extension(isa, traits.extension) ||
        !has_version(isa.version, traits.versions))
        return false;
    if (instruction.rd >= 32 || instruction.rs1 >= 32)
        return false;
    if (decoder::is_compressed(bits))
        return instruction.length == 2;
    // A word is its own encoding, but for the bits that nobody looks at.
    return instruction.length == 4 && test::encode(instruction, bits) == bits;
}

/// Whatever a smaller instruction set accepts, a greater one accepts alike.
void check_prefixes(std::uint32_t bits, const Isa& isa, const Instruction& decoded)
{
    Isa greater = isa;
    greater.b = greater.a = true;
    if (decoded.opcode != Opcode::invalid)
        test::check(decoder::decode(bits, greater) == decoded,
                    [&] { return "greater set, bits " + std::to_string(bits); });
}

/// Printable, and short enough for a column of a listing.
bool is_one_line(std::string_view text)
{
    constexpr std::size_t longest = 48;
    return text.size() <= longest && text.front() != ' ' && text.back() != ' ' &&
           std::ranges::all_of(text, [](char c) { return c >= ' ' && c <= '~'; });
}

/// The opcode of a word whose mnemonic is @p mnemonic, with or without an ordering behind it.
Opcode opcode_of(std::string_view mnemonic, const Isa& isa)
{
    for (const std::string_view suffix : {".aqrl", ".aq", ".rl"})
        if (mnemonic.ends_with(suffix)) {
            mnemonic.remove_suffix(suffix.size());
            break;
        }
    for (std::size_t i = 1; i < test::word_opcode_count; ++i) {
        const isa::Traits& traits = isa::traits(static_cast<Opcode>(i));
        if (traits.mnemonic == mnemonic && has_version(isa.version, traits.versions))
            return static_cast<Opcode>(i);
    }
    return Opcode::invalid;
}

/// What was decoded can be read from the text without aliases: a word gives its own bits again, a
/// halfword the fields that its spelling shows.
void check_reading(std::uint32_t bits, const Isa& isa, const Instruction& decoded)
{
    const auto line = decoder::disassemble(bits, some_pc, isa, decoder::Spelling::no_aliases);
    const auto text = [&] { return "reading " + std::to_string(bits) + ": " + line.text(); };
    test::OperandReader reader{line.operands};
    const auto offset = static_cast<std::int32_t>(line.target.value_or(some_pc) - some_pc);
    if (decoder::is_compressed(bits)) {
        const isa::CompressedRow& row = isa::find_compressed(static_cast<std::uint16_t>(bits));
        test::check(line.mnemonic == row.mnemonic, text);
        const auto fields = reader.read(row.operands);
        test::check(fields.has_value(), text);
        if (row.kind != isa::CompressedRow::Kind::expansion)
            return;
        const auto shown = [&](char letter) { return row.operands.contains(letter); };
        test::check(!shown('d') || fields->rd == decoded.rd, text);
        test::check(!shown('s') || fields->rs1 == decoded.rs1, text);
        test::check(!shown('t') || fields->rs2 == decoded.rs2, text);
        test::check(fields->imm == 0 || fields->imm == decoded.imm, text);
        return;
    }
    if (line.mnemonic == "pause" || line.mnemonic == "fence.tso")
        return;
    const Opcode opcode = opcode_of(line.mnemonic, isa);
    test::check(opcode == decoded.opcode, text);
    auto fields = reader.read(isa::traits(isa::traits(opcode).format).operands);
    test::check(fields.has_value(), text);
    fields->opcode = opcode;
    fields->imm += offset;
    // The mode of a fence, which is not shown.
    if (isa::traits(opcode).format == isa::Format::fence)
        fields->imm |= decoded.imm & ~0xff;
    test::check(test::encode(*fields, bits) == bits, text);
}

void check_text(std::uint32_t bits, const Isa& isa, const Instruction& decoded)
{
    for (const auto spelling : {decoder::Spelling::aliases, decoder::Spelling::no_aliases}) {
        const auto line = decoder::disassemble(bits, some_pc, isa, spelling);
        const auto text = [&] { return "text of " + std::to_string(bits) + ": " + line.text(); };
        test::check(!line.mnemonic.empty(), text);
        test::check(is_one_line(line.text()), text);
        test::check(line.length == (decoder::is_compressed(bits) ? 2 : 4), text);
        test::check((line.mnemonic == ".half") == (decoded.opcode == Opcode::invalid), text);
        const isa::Flow flow = isa::traits(decoded.opcode).flow;
        test::check(
            line.target.has_value() == (flow == isa::Flow::branch || flow == isa::Flow::jump),
            text);
        test::check(
            !line.target || *line.target == some_pc + static_cast<std::uint64_t>(decoded.imm),
            text);
    }
}

void check_bits(std::uint32_t bits)
{
    if (decoder::is_compressed(bits))
        bits &= 0xffff;
    for (const Version version : {Version::v0, Version::v1, Version::v2})
        for (const bool b : {false, true})
            for (const bool a : {false, true}) {
                const Isa isa{.version = version, .b = b, .a = a};
                const Instruction decoded = decoder::decode(bits, isa);
                test::check(is_plausible(decoded, bits, isa), [&] {
                    return "bits " + std::to_string(bits) + " as " +
                           std::string{isa::traits(decoded.opcode).mnemonic};
                });
                check_prefixes(bits, isa, decoded);
                check_text(bits, isa, decoded);
                if (decoded.opcode != Opcode::invalid)
                    check_reading(bits, isa, decoded);
            }
}
}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    constexpr std::size_t most = 256;
    for (std::size_t at = 0; at + 4 <= size && at < most; at += 4) {
        std::uint32_t bits = 0;
        std::memcpy(&bits, data + at, sizeof(bits));
        check_bits(bits);
        check_bits(bits >> 16);
        check_bits(bits | 3);
    }
    return 0;
}
