// SPDX-License-Identifier: MIT
/// @file
/// One example for each row of rules.inc, with every way to break one of its conditions.
#pragma once

#include "isa/opcode.hpp"
#include "unit/fusion_windows.hpp"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

namespace mopvm::fusion
{
/// A window that breaks one condition of a row and no other, and what it becomes instead.
struct Violation
{
    std::string condition;  ///< As in the row.
    Window window;
    std::string in_v1;
    std::string in_v2;
};

/// A window that one row of rules.inc fuses in its versions.
struct Specimen
{
    Opcode opcode{};
    Version since{};
    Version until{};
    std::string sequence;  ///< As in the row.
    Window window;
    Operation fused;
    std::vector<Violation> violations;
};

/// The violations of a rule that makes both halves of a result.
inline std::vector<Violation> wide_violations(Opcode first, Opcode second)
{
    return {{"r0!=r1", wide(first, second, 5, 5, 7, 8), "none", "none"},
            {"r0!=r2", wide(first, second, 5, 6, 5, 8), "none", "none"},
            {"r0!=r3", wide(first, second, 5, 6, 7, 5), "none", "none"}};
}

/// The specimen of a rule that makes both halves of a result.
inline Specimen wide_specimen(Opcode fused, Opcode first, Opcode second)
{
    const std::string sequence = std::string{isa::traits(first).mnemonic} + " r0,r1,r2; " +
                                 std::string{isa::traits(second).mnemonic} + " r3,r1,r2";
    return {fused,
            Version::v1,
            Version::v2,
            sequence,
            wide(first, second, 5, 6, 7, 8),
            operation(fused, 2, 8, {5, 6, 7, 8}),
            wide_violations(first, second)};
}

/// In the order of rules.inc.
inline const std::vector<Specimen>& specimens()
{
    using enum Version;
    static const std::vector<Specimen> all{
        {Opcode::adc,
         v1,
         v2,
         "add r0,r0,r1; sltu r1,r0,r1; add r0,r0,r2; sltu r2,r0,r2; or r1,r1,r2",
         adc(5, 6, 7),
         operation(Opcode::adc, 5, 20, {5, 6, 7}),
         {{"r0!=r1", adc(5, 5, 7), "none", "none"},
          {"r2!=r0", adc(5, 6, 5), "none", "adcs"},
          {"r2!=r1", adc(5, 6, 6), "none", "adcs"},
          {"r0!=0", adc(0, 6, 7), "none", "none"},
          {"r1!=0", adc(5, 0, 7), "none", "adcs"},
          {"r2!=0", adc(5, 6, 0), "none", "adcs"}}},
        {Opcode::add3a,
         v2,
         v2,
         "add r0,r1,r0; sltu r2,r0,r1; add r3,r2,r4",
         add3a(5, 6, 7, 8, 9),
         operation(Opcode::add3a, 3, 12, {5, 6, 7, 8, 9}),
         {{"r0!=r1", add3a(5, 5, 7, 8, 9), "none", "none"},
          {"r0!=r4", add3a(5, 6, 7, 8, 5), "none", "adcs"},
          {"r2!=r4", add3a(5, 6, 7, 8, 7), "none", "adcs"},
          {"r0!=0", add3a(0, 6, 7, 8, 9), "none", "none"},
          {"r2!=0", add3a(5, 6, 0, 8, 9), "none", "adcs"}}},
        {Opcode::add3b,
         v2,
         v2,
         "add r0,r1,r2; sltu r1,r0,r1; add r3,r1,r4",
         add3b(5, 6, 7, 8, 9),
         operation(Opcode::add3b, 3, 12, {5, 6, 7, 8, 9}),
         {{"r0!=r1", add3b(5, 5, 7, 8, 9), "none", "none"},
          {"r0!=r4", add3b(5, 6, 7, 8, 5), "none", "adcs"},
          {"r1!=r4", add3b(5, 6, 7, 8, 6), "none", "adcs"},
          {"r0!=0", add3b(0, 6, 7, 8, 9), "none", "none"},
          {"r1!=0", add3b(5, 0, 7, 8, 9), "none", "adcs"}}},
        {Opcode::add3c,
         v2,
         v2,
         "add r0,r1,r2; sltu r3,r0,r1; add r3,r3,r4",
         add3c(5, 6, 7, 8, 9),
         operation(Opcode::add3c, 3, 12, {5, 6, 7, 8, 9}),
         {{"r0!=r1", add3c(5, 5, 7, 8, 9), "none", "none"},
          {"r0!=r4", add3c(5, 6, 7, 8, 5), "none", "adcs"},
          {"r3!=r4", add3c(5, 6, 7, 8, 8), "none", "adcs"},
          {"r0!=0", add3c(0, 6, 7, 8, 9), "none", "none"},
          {"r3!=0", add3c(5, 6, 7, 0, 9), "none", "adcs"}}},
        {Opcode::adcs,
         v2,
         v2,
         "add r0,r1,r2; sltu r3,r0,r1",
         adcs(5, 6, 7, 8),
         operation(Opcode::adcs, 2, 8, {5, 6, 7, 8}),
         {{"r0!=r1", {add(5, 5, 7), sltu(8, 5, 5)}, "none", "none"},
          {"r0!=0", adcs(0, 6, 7, 8), "none", "none"}}},
        {Opcode::adcs,
         v2,
         v2,
         "add r0,r0,r1; sltu r3,r0,r1",
         {add(5, 5, 6), sltu(8, 5, 6)},
         operation(Opcode::adcs, 2, 8, {5, 6, 5, 8}),
         {{"r0!=r1", {add(5, 5, 5), sltu(8, 5, 5)}, "none", "none"},
          {"r0!=0", {add(0, 0, 6), sltu(8, 0, 6)}, "none", "none"}}},
        {Opcode::sbb,
         v1,
         v2,
         "sub r0,r1,r0; sltu r2,r1,_; sub r1,r0,r3; sltu r3,r0,r1; or r0,r3,r2",
         sbb(5, 6, 7, 8, 5),
         operation(Opcode::sbb, 5, 20, {5, 6, 7, 8}),
         {{"r1!=r0", sbb(5, 5, 7, 8, 5), "none", "none"},
          {"r2!=r0", sbb(5, 6, 5, 8, 5), "none", "none"},
          {"r2!=r1", sbb(5, 6, 6, 8, 5), "none", "none"},
          {"r3!=r0", sbb(5, 6, 7, 5, 5), "none", "none"},
          {"r3!=r1", sbb(5, 6, 7, 6, 5), "none", "none"},
          {"r3!=r2", sbb(5, 6, 7, 7, 5), "none", "none"},
          {"r0!=0", sbb(0, 6, 7, 8, 0), "none", "none"},
          {"r1!=0", sbb(5, 0, 7, 8, 5), "none", "none"},
          {"r2!=0", sbb(5, 6, 0, 8, 5), "none", "none"},
          {"r3!=0", sbb(5, 6, 7, 0, 5), "none", "none"}}},
        {Opcode::sbbs,
         v2,
         v2,
         "sub r0,r1,r2; sltu r3,r1,r2",
         sbbs(5, 6, 7, 8),
         operation(Opcode::sbbs, 2, 8, {5, 6, 7, 8}),
         {{"r0!=r1", sbbs(5, 5, 7, 8), "none", "none"},
          {"r0!=r2", sbbs(5, 6, 5, 8), "none", "none"}}},
        wide_specimen(Opcode::wide_mul, Opcode::mulh, Opcode::mul),
        wide_specimen(Opcode::wide_mulu, Opcode::mulhu, Opcode::mul),
        wide_specimen(Opcode::wide_mulsu, Opcode::mulhsu, Opcode::mul),
        wide_specimen(Opcode::wide_div, Opcode::div, Opcode::rem),
        wide_specimen(Opcode::wide_divu, Opcode::divu, Opcode::remu),
        {Opcode::far_jump_abs,
         v1,
         v1,
         "lui r0,hi; jalr ra,lo(r0)",
         far_jump(Opcode::lui, 10, 0x12345, -3),
         operation(Opcode::far_jump_abs, 2, 8, {1}, 0x12344ffd),
         {}},
        {Opcode::far_jump_abs,
         v2,
         v2,
         "lui ra,hi; jalr ra,lo(ra)",
         far_jump(Opcode::lui, 1, 0x12345, -3),
         operation(Opcode::far_jump_abs, 2, 8, {1}, 0x12344ffd),
         {}},
        {Opcode::load_const_lui,
         v1,
         v2,
         "lui r0,hi; addiw r0,r0,lo",
         constant(Opcode::lui, Opcode::addiw, 10, 0x12345, -3),
         operation(Opcode::load_const_lui, 2, 8, {10}, 0x12344ffd),
         {}},
        {Opcode::far_jump_rel,
         v1,
         v1,
         "auipc r0,hi; jalr ra,lo(r0)",
         far_jump(Opcode::auipc, 10, 0x12345, -3),
         operation(Opcode::far_jump_rel, 2, 8, {1}, 0x12344ffd),
         {}},
        {Opcode::far_jump_rel,
         v2,
         v2,
         "auipc ra,hi; jalr ra,lo(ra)",
         far_jump(Opcode::auipc, 1, 0x12345, -3),
         operation(Opcode::far_jump_rel, 2, 8, {1}, 0x12344ffd),
         {}},
        {Opcode::load_const_auipc,
         v2,
         v2,
         "auipc r0,hi; addi r0,r0,lo",
         constant(Opcode::auipc, Opcode::addi, 10, 0x12345, -3),
         operation(Opcode::load_const_auipc, 2, 8, {10}, 0x12344ffd),
         {}},
    };
    return all;
}

/// Calls @p check for every specimen in every version that has its row, with both in the trace.
template <typename Check>
void for_each_specimen(Check check)
{
    for (const auto& specimen : specimens())
        for (const Version version : all_versions)
            if (specimen.since <= version && version <= specimen.until) {
                SCOPED_TRACE(std::string{isa::traits(specimen.opcode).mnemonic} + " [" +
                             specimen.sequence + "] in version " +
                             std::to_string(std::to_underlying(version)));
                check(specimen, version);
            }
}
}  // namespace mopvm::fusion
