// SPDX-License-Identifier: MIT
/// @file
/// What tests of fusion write and ask: instructions, the rule sheet by slots, and the outcome.
#pragma once

#include "fusion/fuser.hpp"
#include "isa/instruction.hpp"
#include "isa/opcode.hpp"

#include <mopvm/config.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

namespace mopvm::fusion
{
using isa::Instruction;
using isa::Opcode;
using isa::Operation;
using Window = std::vector<Instruction>;
using Parts = std::span<const Instruction>;

inline constexpr std::array all_versions{Version::v0, Version::v1, Version::v2};
inline constexpr std::uint64_t some_pc = 0x10000;

// Instructions of four bytes each.

inline std::uint8_t number(unsigned reg)
{
    return static_cast<std::uint8_t>(reg);
}

inline Instruction reg(Opcode opcode, unsigned rd, unsigned rs1, unsigned rs2)
{
    Instruction result{.opcode = opcode, .rd = number(rd), .rs1 = number(rs1), .length = 4};
    result.rs2 = rs2 & 31;
    return result;
}

inline Instruction imm(Opcode opcode, unsigned rd, unsigned rs1, std::int32_t imm12)
{
    return {.opcode = opcode, .rd = number(rd), .rs1 = number(rs1), .length = 4, .imm = imm12};
}

inline Instruction upper(Opcode opcode, unsigned rd, std::uint32_t imm20)
{
    return {.opcode = opcode,
            .rd = number(rd),
            .length = 4,
            .imm = static_cast<std::int32_t>(imm20 << 12)};
}

inline Instruction compressed(Instruction instruction)
{
    instruction.length = 2;
    return instruction;
}

inline Instruction add(unsigned rd, unsigned rs1, unsigned rs2)
{
    return reg(Opcode::add, rd, rs1, rs2);
}

inline Instruction sub(unsigned rd, unsigned rs1, unsigned rs2)
{
    return reg(Opcode::sub, rd, rs1, rs2);
}

inline Instruction sltu(unsigned rd, unsigned rs1, unsigned rs2)
{
    return reg(Opcode::sltu, rd, rs1, rs2);
}

// The rule sheet: a sequence with the registers that its slots stand for.

inline Window adc(unsigned r0, unsigned r1, unsigned r2)
{
    return {add(r0, r0, r1), sltu(r1, r0, r1), add(r0, r0, r2), sltu(r2, r0, r2),
            reg(Opcode::or_, r1, r1, r2)};
}

inline Window sbb(unsigned r0, unsigned r1, unsigned r2, unsigned r3, unsigned compared)
{
    return {sub(r0, r1, r0), sltu(r2, r1, compared), sub(r1, r0, r3), sltu(r3, r0, r1),
            reg(Opcode::or_, r0, r3, r2)};
}

inline Window wide(Opcode first, Opcode second, unsigned r0, unsigned r1, unsigned r2, unsigned r3)
{
    return {reg(first, r0, r1, r2), reg(second, r3, r1, r2)};
}

inline Window far_jump(Opcode head, unsigned through, std::uint32_t hi, std::int32_t lo)
{
    return {upper(head, through, hi), imm(Opcode::jalr, 1, through, lo)};
}

inline Window constant(Opcode head, Opcode tail, unsigned r0, std::uint32_t hi, std::int32_t lo)
{
    return {upper(head, r0, hi), imm(tail, r0, r0, lo)};
}

inline Window adcs(unsigned r0, unsigned r1, unsigned r2, unsigned r3)
{
    return {add(r0, r1, r2), sltu(r3, r0, r1)};
}

inline Window sbbs(unsigned r0, unsigned r1, unsigned r2, unsigned r3)
{
    return {sub(r0, r1, r2), sltu(r3, r1, r2)};
}

inline Window add3a(unsigned r0, unsigned r1, unsigned r2, unsigned r3, unsigned r4)
{
    return {add(r0, r1, r0), sltu(r2, r0, r1), add(r3, r2, r4)};
}

inline Window add3b(unsigned r0, unsigned r1, unsigned r2, unsigned r3, unsigned r4)
{
    return {add(r0, r1, r2), sltu(r1, r0, r1), add(r3, r1, r4)};
}

inline Window add3c(unsigned r0, unsigned r1, unsigned r2, unsigned r3, unsigned r4)
{
    return {add(r0, r1, r2), sltu(r3, r0, r1), add(r3, r3, r4)};
}

// Asking and showing.

/// The rule that made @p operation, or "none".
inline std::string name(const std::optional<Operation>& operation)
{
    return operation ? std::string{isa::traits(operation->opcode).mnemonic} : "none";
}

/// The rule that @p window becomes, or "none".
inline std::string rule(Parts window, Version version, std::uint64_t pc = some_pc)
{
    return name(fuse(window, pc, version));
}

inline std::string in_v1(const Window& window, std::uint64_t pc = some_pc)
{
    return rule(window, Version::v1, pc);
}

inline std::string in_v2(const Window& window, std::uint64_t pc = some_pc)
{
    return rule(window, Version::v2, pc);
}

inline std::string show(const std::optional<Operation>& operation)
{
    std::ostringstream text;
    text << name(operation);
    if (operation)
        text << " slots " << +operation->rd << ' ' << +operation->rs1 << ' ' << +operation->rs2
             << ' ' << +operation->r3 << ' ' << +operation->r4 << " imm " << operation->imm
             << " length " << +operation->length << " parts " << +operation->parts << " cost "
             << operation->cost;
    return text.str();
}

inline std::string show(Parts window)
{
    std::ostringstream text;
    for (const auto& part : window)
        text << "\n  " << isa::traits(part.opcode).mnemonic << " rd " << +part.rd << " rs1 "
             << +part.rs1 << " rs2 " << +part.rs2 << " imm " << part.imm << " length "
             << +part.length;
    return text.str();
}

/// Whether @p window becomes exactly @p expected; says what it becomes otherwise.
inline testing::AssertionResult same(const std::optional<Operation>& expected,
                                     Parts window,
                                     std::uint64_t pc,
                                     Version version)
{
    const auto actual = fuse(window, pc, version);
    if (actual == expected)
        return testing::AssertionSuccess();
    return testing::AssertionFailure()
           << "version " << +std::to_underlying(version) << " pc " << pc << show(window)
           << "\nshould be " << show(expected) << "\nbut is    " << show(actual);
}

/// A fused operation with @p slots in rd, rs1, rs2, r3 and r4.
inline Operation operation(Opcode opcode,
                           unsigned parts,
                           unsigned length,
                           std::initializer_list<unsigned> slots,
                           std::int32_t immediate = 0)
{
    std::array<std::uint8_t, 5> s{};
    std::ranges::transform(slots, s.begin(), number);
    return {.opcode = opcode,
            .length = number(length),
            .parts = number(parts),
            .rd = s[0],
            .rs1 = s[1],
            .rs2 = s[2],
            .r3 = s[3],
            .r4 = s[4],
            .imm = immediate};
}
}  // namespace mopvm::fusion
