// SPDX-License-Identifier: MIT
// Any window of instructions: what fuses means what its parts mean, but for the listed exceptions.

#include "decoder/decoder.hpp"
#include "fusion/fuser.hpp"
#include "isa/instruction.hpp"
#include "semantics/execute.hpp"
#include "support/choices.hpp"
#include "support/encode.hpp"
#include "support/fusion_exceptions.hpp"
#include "support/fuzz_check.hpp"
#include "support/random_sequence.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <sstream>
#include <string>
#include <vector>

namespace
{
using namespace mopvm;
using isa::Instruction;
using isa::Operation;
using test::Choices;

using Window = std::vector<Instruction>;

std::uint8_t any_register(Choices& choices)
{
    return static_cast<std::uint8_t>(choices.one_in(4) ? choices.below(32) : choices.below(6));
}

/// Instructions as the decoder gives them: from any bits, from rules, and from both.
Window any_window(Choices& choices)
{
    const auto reg = [&] { return any_register(choices); };
    Window window;
    if (!choices.one_in(4))
        window = test::any_sequence(choices, reg);
    if (!window.empty() && choices.one_in(3))
        test::spoil(window, choices, reg);
    // Through bits and back: fields that a format does not have are 0 again, and lengths are real.
    for (Instruction& part : window) {
        std::uint32_t bits = test::encode(part);
        if (choices.one_in(2))
            bits = test::compress(decoder::decode(bits, test::widest_isa)).value_or(0);
        if (const auto decoded =
                decoder::decode(bits != 0 ? bits : test::encode(part), test::widest_isa);
            decoded.opcode != isa::Opcode::invalid)
            part = decoded;
    }
    while (window.size() < fusion::max_parts && !choices.exhausted()) {
        std::uint32_t bits = choices.bits32();
        if (decoder::is_compressed(bits))
            bits &= 0xffff;
        window.push_back(decoder::decode(bits, test::widest_isa));
    }
    return window;
}

semantics::State any_state(Choices& choices, std::uint64_t pc)
{
    semantics::State state{.pc = pc};
    for (std::size_t i = 1; i < isa::register_count; ++i) {
        const std::uint64_t any = choices.bits64();
        state.x[i] = choices.one_of<std::uint64_t>(
            {any, any, 0, ~std::uint64_t{0}, 1, std::uint64_t{1} << 63, ~(std::uint64_t{1} << 63)});
    }
    return state;
}

std::string to_text(std::span<const Instruction> window, Version version, std::uint64_t pc)
{
    std::ostringstream out;
    out << "version " << static_cast<int>(version) << ", pc 0x" << std::hex << pc << std::dec;
    for (const Instruction& part : window)
        out << "; " << isa::traits(part.opcode).mnemonic << " rd " << int{part.rd} << " rs1 "
            << int{part.rs1} << " rs2 " << int{part.rs2} << " imm " << part.imm << " length "
            << int{part.length};
    return out.str();
}

void check_meaning(const Operation& fused,
                   std::span<const Instruction> parts,
                   const semantics::State& start,
                   Version version)
{
    semantics::State as_one = start;
    semantics::State in_turn = start;
    test::check(semantics::execute(as_one, fused) == semantics::Outcome::next,
                [&] { return "outcome: " + to_text(parts, version, start.pc); });
    for (const Instruction& part : parts)
        static_cast<void>(semantics::execute(in_turn, isa::to_operation(part)));
    test::check(std::ranges::equal(as_one.x, in_turn.x) && as_one.pc == in_turn.pc,
                [&] { return "meaning: " + to_text(parts, version, start.pc); });
}

void check_window(std::span<const Instruction> window, Version version, Choices& choices)
{
    const std::uint64_t pc = choices.one_of<std::uint64_t>(
        {0x10000, choices.bits32(), 0x7fffffff, 0x7fffeffe, 0x80000000, 0xffffffff, 0});
    const auto text = [&] { return to_text(window, version, pc); };
    const auto fused = fusion::fuse(window, pc, version);
    const std::size_t needed =
        std::min(fusion::window_size(window[0].opcode, version), window.size());
    test::check(fusion::fuse(window.first(needed), pc, version) == fused, text);
    if (!fused)
        return;
    test::check(version != Version::v0 && isa::is_fused(fused->opcode), text);
    test::check(fused->parts == isa::traits(fused->opcode).parts && fused->parts <= needed, text);
    test::check(fused->cost == 0, text);
    const auto parts = window.first(fused->parts);
    unsigned length = 0;
    for (const Instruction& part : parts)
        length += part.length;
    test::check(fused->length == length, text);
    if (!test::differs_from_its_parts(*fused, window, version))
        check_meaning(*fused, parts, any_state(choices, pc), version);
}
}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    Choices choices{std::span{data, size}};
    for (int count = 0; count < 16 && !choices.exhausted(); ++count) {
        const Window window = any_window(choices);
        if (window.empty())
            return 0;
        for (const Version version : {Version::v0, Version::v1, Version::v2})
            check_window(window, version, choices);
    }
    return 0;
}
