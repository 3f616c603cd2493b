// SPDX-License-Identifier: MIT
// Fusion by example: every row of rules.inc, every condition, every alias, every edge.

#include "fusion/fuser.hpp"

#include "isa/opcode.hpp"
#include "unit/fusion_specimens.hpp"
#include "unit/fusion_windows.hpp"

#include <mopvm/stats.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace mopvm::fusion
{
namespace
{
using Slots3 = std::array<unsigned, 3>;
using Slots4 = std::array<unsigned, 4>;

constexpr std::int32_t int32_min = std::numeric_limits<std::int32_t>::min();

/// A row of rules.inc as it is written there.
struct Row
{
    Opcode opcode{};
    Version since{};
    Version until{};
    std::string sequence;
    std::string conditions;
};

const std::vector<Row>& rows()
{
    static const std::vector<Row> all{
#define MOPVM_FUSION_RULE(rule, since, until, sequence, conditions, immediate, result) \
    {Opcode::rule, Version::since, Version::until, sequence, conditions},
#include "fusion/rules.inc"
    };
    return all;
}

TEST(FusionRegistry, every_row_has_its_specimen)
{
    ASSERT_EQ(rows().size(), specimens().size());
    for (std::size_t i = 0; i < rows().size(); ++i) {
        EXPECT_EQ(rows()[i].sequence, specimens()[i].sequence);
        EXPECT_EQ(rows()[i].opcode, specimens()[i].opcode) << rows()[i].sequence;
        EXPECT_EQ(rows()[i].since, specimens()[i].since) << rows()[i].sequence;
        EXPECT_EQ(rows()[i].until, specimens()[i].until) << rows()[i].sequence;
    }
}

TEST(FusionRegistry, every_condition_has_its_violation)
{
    ASSERT_EQ(rows().size(), specimens().size());
    for (std::size_t i = 0; i < rows().size(); ++i) {
        std::string violated;
        for (const auto& violation : specimens()[i].violations)
            violated += (violated.empty() ? "" : " ") + violation.condition;
        EXPECT_EQ(rows()[i].conditions, violated) << rows()[i].sequence;
    }
}

TEST(FusionRegistry, every_rule_has_a_specimen)
{
    std::set<Opcode> seen;
    for (const auto& specimen : specimens())
        seen.insert(specimen.opcode);
    for (std::size_t i = 0; i < fusion_rule_count; ++i) {
        const auto opcode = static_cast<Opcode>(isa::index(Opcode::adc) + i);
        EXPECT_TRUE(seen.contains(opcode)) << isa::traits(opcode).mnemonic;
    }
    EXPECT_EQ(seen.size(), fusion_rule_count);
}

TEST(EveryFusionRule, matches_its_sequence)
{
    for_each_specimen([](const Specimen& specimen, Version version) {
        EXPECT_TRUE(same(specimen.fused, specimen.window, some_pc, version));
        EXPECT_EQ(specimen.fused.parts, isa::traits(specimen.opcode).parts);
    });
}

TEST(EveryFusionRule, is_unknown_before_its_version)
{
    const std::set<Opcode> of_version_2{Opcode::add3a, Opcode::add3b, Opcode::add3c,
                                        Opcode::adcs,  Opcode::sbbs,  Opcode::load_const_auipc};
    for (const auto& specimen : specimens()) {
        EXPECT_EQ(rule(specimen.window, Version::v0), "none") << specimen.sequence;
        EXPECT_EQ(in_v1(specimen.window) == "none", of_version_2.contains(specimen.opcode))
            << specimen.sequence;
    }
}

TEST(EveryFusionRule, needs_each_condition)
{
    for (const auto& specimen : specimens())
        for (const auto& violation : specimen.violations) {
            EXPECT_EQ(in_v1(violation.window), violation.in_v1)
                << specimen.sequence << " without " << violation.condition;
            EXPECT_EQ(in_v2(violation.window), violation.in_v2)
                << specimen.sequence << " without " << violation.condition;
        }
}

TEST(EveryFusionRule, needs_the_whole_sequence)
{
    for_each_specimen([](const Specimen& specimen, Version version) {
        for (std::size_t size = 0; size < specimen.window.size(); ++size) {
            const auto window = Parts{specimen.window}.first(size);
            EXPECT_NE(rule(window, version), name(specimen.fused)) << "cut to " << size;
        }
    });
}

TEST(EveryFusionRule, does_not_match_across_an_invalid_instruction)
{
    for_each_specimen([](const Specimen& specimen, Version version) {
        for (std::size_t position = 0; position < specimen.window.size(); ++position) {
            auto window = specimen.window;
            window[position] = Instruction{};
            EXPECT_NE(rule(window, version), name(specimen.fused)) << "invalid at " << position;
            EXPECT_EQ(fuse(window, some_pc, version),
                      fuse(Parts{window}.first(position), some_pc, version));
        }
    });
}

TEST(EveryFusionRule, looks_at_nothing_behind_its_sequence)
{
    for_each_specimen([](const Specimen& specimen, Version version) {
        for (const auto& behind : {Instruction{}, add(5, 5, 6), imm(Opcode::jalr, 1, 1, 0)}) {
            auto window = specimen.window;
            window.insert(window.end(), 3, behind);
            EXPECT_TRUE(same(specimen.fused, window, some_pc, version));
        }
    });
}

TEST(EveryFusionRule, has_the_length_of_its_parts)
{
    for_each_specimen([](const Specimen& specimen, Version version) {
        for (unsigned mask = 0; mask < 1U << specimen.window.size(); ++mask) {
            auto window = specimen.window;
            unsigned length = 0;
            for (std::size_t i = 0; i < window.size(); ++i) {
                window[i].length = (mask >> i & 1) != 0 ? 2 : 4;
                length += window[i].length;
            }
            auto expected = specimen.fused;
            expected.length = number(length);
            EXPECT_TRUE(same(expected, window, some_pc, version));
        }
    });
}

TEST(WindowSize, is_that_of_the_longest_rule_of_the_head)
{
    EXPECT_EQ(window_size(Opcode::add, Version::v0), 0U);
    EXPECT_EQ(window_size(Opcode::lui, Version::v0), 0U);
    EXPECT_EQ(window_size(Opcode::add, Version::v1), 5U);
    EXPECT_EQ(window_size(Opcode::sub, Version::v2), 5U);
    EXPECT_EQ(window_size(Opcode::mulhsu, Version::v1), 2U);
    EXPECT_EQ(window_size(Opcode::divu, Version::v2), 2U);
    EXPECT_EQ(window_size(Opcode::auipc, Version::v1), 2U);
    EXPECT_EQ(window_size(Opcode::mul, Version::v2), 0U);
    EXPECT_EQ(window_size(Opcode::addw, Version::v2), 0U);
    EXPECT_EQ(window_size(Opcode::invalid, Version::v2), 0U);
}

TEST(Adc, has_compressed_parts)
{
    auto window = adc(10, 11, 12);
    window[0] = compressed(window[0]);
    window[2] = compressed(window[2]);
    window[4] = compressed(window[4]);
    EXPECT_TRUE(same(operation(Opcode::adc, 5, 14, {10, 11, 12}), window, some_pc, Version::v1));
}

TEST(Adc, has_no_commuted_form)
{
    auto window = adc(5, 6, 7);
    window[0] = add(5, 6, 5);
    EXPECT_EQ(in_v1(window), "none");
    window = adc(5, 6, 7);
    window[2] = add(5, 7, 5);
    EXPECT_EQ(in_v1(window), "none");
    window = adc(5, 6, 7);
    window[4] = reg(Opcode::or_, 6, 7, 6);
    EXPECT_EQ(in_v1(window), "none");
}

TEST(Adc, is_tried_before_adcs_and_falls_to_it)
{
    const auto window = adc(5, 6, 7);
    EXPECT_EQ(in_v2(window), "adc");
    for (std::size_t size = 2; size < 5; ++size)
        EXPECT_TRUE(same(operation(Opcode::adcs, 2, 8, {5, 6, 5, 6}), Parts{window}.first(size),
                         some_pc, Version::v2));
    EXPECT_EQ(rule(Parts{window}.first(4), Version::v1), "none");
}

TEST(Adcs, writes_the_carry_anywhere)
{
    for (const unsigned r3 : {0U, 5U, 6U, 7U, 31U})
        EXPECT_TRUE(same(operation(Opcode::adcs, 2, 8, {5, 6, 7, r3}), adcs(5, 6, 7, r3), some_pc,
                         Version::v2));
}

TEST(Adcs, takes_equal_and_zero_operands)
{
    EXPECT_EQ(in_v2(adcs(5, 6, 5, 8)), "adcs");
    EXPECT_EQ(in_v2(adcs(5, 6, 6, 8)), "adcs");
    EXPECT_EQ(in_v2(adcs(5, 6, 0, 8)), "adcs");
    auto window = adcs(5, 0, 7, 8);
    window[0] = compressed(window[0]);
    EXPECT_TRUE(same(operation(Opcode::adcs, 2, 6, {5, 0, 7, 8}), window, some_pc, Version::v2));
}

TEST(Adcs, swaps_the_head_only_when_it_adds_to_its_own_destination)
{
    EXPECT_TRUE(same(operation(Opcode::adcs, 2, 8, {5, 6, 5, 8}),
                     Window{add(5, 5, 6), sltu(8, 5, 6)}, some_pc, Version::v2));
    EXPECT_TRUE(same(operation(Opcode::adcs, 2, 8, {5, 0, 5, 8}),
                     Window{add(5, 5, 0), sltu(8, 5, 0)}, some_pc, Version::v2));
    EXPECT_EQ(in_v2({add(5, 6, 7), sltu(8, 5, 7)}), "none");
    EXPECT_EQ(in_v2({add(5, 6, 5), sltu(8, 5, 5)}), "none");
    EXPECT_EQ(in_v2({add(5, 5, 6), sltu(8, 5, 5)}), "none");
    EXPECT_EQ(in_v2({add(5, 6, 7), sltu(8, 6, 5)}), "none");
}

TEST(Add3a, takes_every_alias_that_its_conditions_leave)
{
    for (const auto& [r1, r2, r3, r4] :
         {Slots4{6, 5, 8, 9}, Slots4{6, 6, 8, 9}, Slots4{6, 7, 0, 9}, Slots4{6, 7, 5, 9},
          Slots4{6, 7, 6, 9}, Slots4{6, 7, 7, 9}, Slots4{6, 7, 9, 9}, Slots4{0, 7, 8, 9},
          Slots4{6, 7, 8, 0}, Slots4{6, 7, 8, 6}, Slots4{0, 7, 8, 0}})
        EXPECT_TRUE(same(operation(Opcode::add3a, 3, 12, {5, r1, r2, r3, r4}),
                         add3a(5, r1, r2, r3, r4), some_pc, Version::v2));
}

TEST(Add3b, takes_every_alias_that_its_conditions_leave)
{
    for (const auto& [r2, r3, r4] :
         {Slots3{6, 8, 9}, Slots3{7, 0, 9}, Slots3{7, 5, 9}, Slots3{7, 6, 9}, Slots3{7, 7, 9},
          Slots3{7, 9, 9}, Slots3{0, 8, 9}, Slots3{7, 8, 0}, Slots3{7, 8, 7}})
        EXPECT_TRUE(same(operation(Opcode::add3b, 3, 12, {5, 6, r2, r3, r4}),
                         add3b(5, 6, r2, r3, r4), some_pc, Version::v2));
}

TEST(Add3c, takes_every_alias_that_its_conditions_leave)
{
    for (const auto& [r1, r2, r3, r4] :
         {Slots4{6, 7, 5, 9}, Slots4{6, 7, 7, 9}, Slots4{6, 6, 8, 9}, Slots4{0, 7, 8, 9},
          Slots4{6, 0, 8, 9}, Slots4{6, 7, 8, 0}, Slots4{6, 7, 8, 6}, Slots4{6, 7, 8, 7}})
        EXPECT_TRUE(same(operation(Opcode::add3c, 3, 12, {5, r1, r2, r3, r4}),
                         add3c(5, r1, r2, r3, r4), some_pc, Version::v2));
}

TEST(Add3, is_tried_a_b_c_and_then_adcs)
{
    EXPECT_EQ(in_v2(add3b(5, 6, 5, 8, 9)), "add3a");
    EXPECT_EQ(in_v2(add3c(5, 6, 5, 8, 9)), "add3a");
    EXPECT_EQ(in_v2(add3c(5, 6, 7, 6, 9)), "add3b");
    EXPECT_EQ(in_v2(add3a(5, 6, 7, 8, 9)), "add3a");
    for (const auto& window : {add3a(5, 6, 7, 8, 9), add3b(5, 6, 7, 8, 9), add3c(5, 6, 7, 8, 9)})
        EXPECT_EQ(rule(Parts{window}.first(2), Version::v2), "adcs");
}

TEST(Add3, adds_the_carry_as_first_operand_only)
{
    auto a = add3a(5, 6, 7, 8, 9);
    a[2] = add(8, 9, 7);
    EXPECT_EQ(in_v2(a), "adcs");
    auto b = add3b(5, 6, 7, 8, 9);
    b[2] = add(8, 9, 6);
    EXPECT_EQ(in_v2(b), "adcs");
    auto c = add3c(5, 6, 7, 8, 9);
    c[2] = add(8, 9, 8);
    EXPECT_EQ(in_v2(c), "adcs");
}

TEST(Add3, has_compressed_parts)
{
    auto window = add3a(5, 6, 7, 7, 9);
    window[2] = compressed(window[2]);
    EXPECT_TRUE(
        same(operation(Opcode::add3a, 3, 10, {5, 6, 7, 7, 9}), window, some_pc, Version::v2));
    window = add3a(5, 0, 7, 7, 9);
    window[0] = compressed(window[0]);
    window[2] = compressed(window[2]);
    EXPECT_TRUE(
        same(operation(Opcode::add3a, 3, 8, {5, 0, 7, 7, 9}), window, some_pc, Version::v2));
}

TEST(Sbb, ignores_what_its_first_comparison_compares_with)
{
    for (const Version version : {Version::v1, Version::v2})
        for (unsigned compared = 0; compared < 32; ++compared)
            EXPECT_TRUE(same(operation(Opcode::sbb, 5, 20, {5, 6, 7, 8}), sbb(5, 6, 7, 8, compared),
                             some_pc, version));
}

TEST(Sbb, has_no_commuted_last_part)
{
    auto window = sbb(5, 6, 7, 8, 5);
    window[4] = reg(Opcode::or_, 5, 7, 8);
    EXPECT_EQ(in_v1(window), "none");
    EXPECT_EQ(in_v2(window), "none");
}

TEST(Sbb, cut_short_is_no_sbbs)
{
    const auto window = sbb(5, 6, 7, 8, 5);
    for (std::size_t size = 0; size < 5; ++size)
        EXPECT_EQ(rule(Parts{window}.first(size), Version::v2), "none");
}

TEST(Sbbs, takes_every_alias_that_its_conditions_leave)
{
    for (const auto& [r0, r1, r2, r3] :
         {Slots4{0, 6, 7, 8}, Slots4{5, 6, 6, 8}, Slots4{5, 0, 7, 8}, Slots4{5, 6, 0, 8},
          Slots4{5, 0, 0, 8}, Slots4{5, 6, 7, 0}, Slots4{5, 6, 7, 5}, Slots4{5, 6, 7, 6},
          Slots4{5, 6, 7, 7}, Slots4{0, 6, 7, 0}})
        EXPECT_TRUE(same(operation(Opcode::sbbs, 2, 8, {r0, r1, r2, r3}), sbbs(r0, r1, r2, r3),
                         some_pc, Version::v2));
}

TEST(Sbbs, compares_in_the_order_of_the_subtraction)
{
    EXPECT_EQ(in_v2({sub(5, 6, 7), sltu(8, 7, 6)}), "none");
}

TEST(Wide, takes_every_alias_that_its_conditions_leave)
{
    for (const auto& [opcode, first, second] : std::initializer_list<std::array<Opcode, 3>>{
             {Opcode::wide_mul, Opcode::mulh, Opcode::mul},
             {Opcode::wide_mulu, Opcode::mulhu, Opcode::mul},
             {Opcode::wide_mulsu, Opcode::mulhsu, Opcode::mul},
             {Opcode::wide_div, Opcode::div, Opcode::rem},
             {Opcode::wide_divu, Opcode::divu, Opcode::remu}})
        for (const Version version : {Version::v1, Version::v2})
            for (const auto& [r0, r1, r2, r3] :
                 {Slots4{5, 6, 6, 8}, Slots4{5, 6, 7, 6}, Slots4{5, 6, 7, 7}, Slots4{5, 6, 6, 6},
                  Slots4{0, 6, 7, 8}, Slots4{5, 6, 7, 0}, Slots4{5, 0, 7, 8}, Slots4{5, 6, 0, 8},
                  Slots4{5, 0, 0, 0}})
                EXPECT_TRUE(same(operation(opcode, 2, 8, {r0, r1, r2, r3}),
                                 wide(first, second, r0, r1, r2, r3), some_pc, version));
}

TEST(Wide, never_discards_both_halves)
{
    EXPECT_EQ(in_v2(wide(Opcode::mulhu, Opcode::mul, 0, 6, 7, 0)), "none");
    EXPECT_EQ(in_v2(wide(Opcode::div, Opcode::rem, 0, 6, 7, 0)), "none");
}

TEST(Wide, needs_the_high_half_first_and_equal_operands)
{
    EXPECT_EQ(in_v2(wide(Opcode::mul, Opcode::mulh, 5, 6, 7, 8)), "none");
    EXPECT_EQ(in_v2(wide(Opcode::rem, Opcode::div, 5, 6, 7, 8)), "none");
    EXPECT_EQ(in_v2(wide(Opcode::div, Opcode::remu, 5, 6, 7, 8)), "none");
    EXPECT_EQ(in_v2(wide(Opcode::divu, Opcode::rem, 5, 6, 7, 8)), "none");
    EXPECT_EQ(in_v2(wide(Opcode::divw, Opcode::remw, 5, 6, 7, 8)), "none");
    EXPECT_EQ(in_v2(wide(Opcode::mulh, Opcode::mulw, 5, 6, 7, 8)), "none");
    EXPECT_EQ(in_v2({reg(Opcode::mulhu, 5, 6, 7), reg(Opcode::mul, 8, 7, 6)}), "none");
}

TEST(Fusion, keeps_x0_where_a_part_discards_its_result)
{
    for (const auto& window :
         {wide(Opcode::mulhu, Opcode::mul, 13, 10, 11, 0),
          wide(Opcode::div, Opcode::rem, 13, 14, 15, 0), adcs(10, 11, 12, 0), sbbs(10, 12, 11, 0)})
    {
        const auto fused = fuse(window, some_pc, Version::v2);
        ASSERT_TRUE(fused) << show(window);
        EXPECT_EQ(fused->rd, window[0].rd);
        EXPECT_EQ(fused->r3, 0);
    }
    EXPECT_EQ(in_v2({add(10, 11, 12), sltu(0, 10, 11), add(0, 0, 12)}), "adcs");
    EXPECT_EQ(in_v2(wide(Opcode::mulhu, Opcode::mul, 13, 10, 11, 13)), "none");
}

TEST(FarJump, goes_through_any_register_in_version_1_and_through_ra_in_version_2)
{
    for (const auto& [head, opcode] : std::initializer_list<std::array<Opcode, 2>>{
             {Opcode::auipc, Opcode::far_jump_rel}, {Opcode::lui, Opcode::far_jump_abs}})
        for (unsigned through = 0; through < 32; ++through) {
            const auto window = far_jump(head, through, 3, 4);
            const auto expected = operation(opcode, 2, 8, {1}, 0x3004);
            EXPECT_TRUE(same(expected, window, some_pc, Version::v1));
            EXPECT_TRUE(same(through == 1 ? std::optional{expected} : std::nullopt, window, some_pc,
                             Version::v2));
        }
}

TEST(FarJump, links_ra_only_and_reads_what_the_head_wrote)
{
    for (const Opcode head : {Opcode::auipc, Opcode::lui})
        for (const Version version : {Version::v1, Version::v2}) {
            for (const unsigned link : {0U, 2U, 5U, 31U})
                EXPECT_EQ(rule(Window{upper(head, 1, 3), imm(Opcode::jalr, link, 1, 4)}, version),
                          "none");
            EXPECT_EQ(rule(Window{upper(head, 1, 3), imm(Opcode::jalr, 1, 2, 4)}, version), "none");
            EXPECT_EQ(rule(Window{upper(head, 2, 3), imm(Opcode::jalr, 1, 1, 4)}, version), "none");
            EXPECT_EQ(rule(Window{upper(head, 1, 3), imm(Opcode::jalr_v0, 1, 1, 4)}, version),
                      "none");
        }
}

TEST(FarJump, has_compressed_parts)
{
    auto relative = far_jump(Opcode::auipc, 1, 3, 0);
    relative[1] = compressed(relative[1]);
    EXPECT_TRUE(
        same(operation(Opcode::far_jump_rel, 2, 6, {1}, 0x3000), relative, some_pc, Version::v2));
    auto absolute = far_jump(Opcode::lui, 1, 0xffffe, 0);
    absolute[0] = compressed(absolute[0]);
    absolute[1] = compressed(absolute[1]);
    EXPECT_TRUE(
        same(operation(Opcode::far_jump_abs, 2, 4, {1}, -0x2000), absolute, some_pc, Version::v2));
}

TEST(FarJump, keeps_odd_offsets)
{
    EXPECT_TRUE(same(operation(Opcode::far_jump_rel, 2, 8, {1}, 0x3003),
                     far_jump(Opcode::auipc, 1, 3, 3), some_pc, Version::v2));
}

TEST(FarJumpRel, wraps_in_version_1_and_needs_32_bits_in_version_2)
{
    struct Case
    {
        std::uint32_t hi;
        std::int32_t lo;
        std::int32_t imm;
        bool fits;
    };
    for (const auto& [hi, lo, sum, fits] :
         std::initializer_list<Case>{{0x80000, -0x7ff, 0x7ffff801, false},
                                     {0x80000, -2048, 0x7ffff800, false},
                                     {0x80000, -1, 0x7fffffff, false},
                                     {0x80000, 0, int32_min, true},
                                     {0x80000, 2047, int32_min + 2047, true},
                                     {0x80001, -2048, int32_min + 2048, true},
                                     {0x7ffff, 2047, 0x7ffff7ff, true},
                                     {0xfffff, -2048, -6144, true}})
    {
        const auto window = far_jump(Opcode::auipc, 1, hi, lo);
        const auto expected = operation(Opcode::far_jump_rel, 2, 8, {1}, sum);
        for (const std::uint64_t pc : {std::uint64_t{0}, some_pc, ~std::uint64_t{7}}) {
            EXPECT_TRUE(same(expected, window, pc, Version::v1));
            EXPECT_TRUE(
                same(fits ? std::optional{expected} : std::nullopt, window, pc, Version::v2));
        }
    }
}

TEST(FarJumpAbs, wraps_in_both_versions)
{
    for (const Version version : {Version::v1, Version::v2}) {
        EXPECT_TRUE(same(operation(Opcode::far_jump_abs, 2, 8, {1}, 0x7ffff801),
                         far_jump(Opcode::lui, 1, 0x80000, -0x7ff), some_pc, version));
        EXPECT_TRUE(same(operation(Opcode::far_jump_abs, 2, 8, {1}, 0x7fffffff),
                         far_jump(Opcode::lui, 1, 0x80000, -1), some_pc, version));
        EXPECT_TRUE(same(operation(Opcode::far_jump_abs, 2, 8, {1}, int32_min),
                         far_jump(Opcode::lui, 1, 0x80000, 0), some_pc, version));
    }
}

TEST(LoadConstLui, wraps_as_addiw_does)
{
    struct Case
    {
        std::uint32_t hi;
        std::int32_t lo;
        std::int32_t imm;
    };
    for (const Version version : {Version::v1, Version::v2})
        for (const auto& [hi, lo, sum] : std::initializer_list<Case>{{0x80000, -1, 0x7fffffff},
                                                                     {0x7ffff, -1, 0x7fffefff},
                                                                     {0x80000, 0, int32_min},
                                                                     {0xfffff, 2047, -2049},
                                                                     {0x80000, -2048, 0x7ffff800},
                                                                     {0x7ffff, 2047, 0x7ffff7ff},
                                                                     {0, 0, 0}})
            EXPECT_TRUE(same(operation(Opcode::load_const_lui, 2, 8, {5}, sum),
                             constant(Opcode::lui, Opcode::addiw, 5, hi, lo), ~std::uint64_t{3},
                             version));
}

TEST(LoadConstLui, is_not_made_of_addi)
{
    EXPECT_EQ(in_v2(constant(Opcode::lui, Opcode::addi, 5, 0x80000, -1)), "none");
    EXPECT_EQ(in_v2(constant(Opcode::auipc, Opcode::addiw, 5, 1, 1)), "none");
}

TEST(LoadConst, needs_one_register_throughout)
{
    for (const auto& [head, tail] : std::initializer_list<std::array<Opcode, 2>>{
             {Opcode::lui, Opcode::addiw}, {Opcode::auipc, Opcode::addi}})
    {
        EXPECT_EQ(in_v2({upper(head, 5, 1), imm(tail, 6, 5, 1)}), "none");
        EXPECT_EQ(in_v2({upper(head, 5, 1), imm(tail, 5, 6, 1)}), "none");
        EXPECT_EQ(in_v2({upper(head, 5, 1), imm(tail, 6, 6, 1)}), "none");
        EXPECT_EQ(in_v2({upper(head, 5, 1), imm(tail, 0, 0, 0)}), "none");
    }
}

TEST(LoadConst, may_load_x0)
{
    EXPECT_TRUE(same(operation(Opcode::load_const_lui, 2, 8, {0}, 0x1001),
                     constant(Opcode::lui, Opcode::addiw, 0, 1, 1), some_pc, Version::v1));
    auto window = constant(Opcode::auipc, Opcode::addi, 0, 1, 0);
    window[1] = compressed(window[1]);
    EXPECT_TRUE(
        same(operation(Opcode::load_const_auipc, 2, 6, {0}, 0x1000), window, some_pc, Version::v2));
}

TEST(LoadConst, has_compressed_parts)
{
    auto window = constant(Opcode::lui, Opcode::addiw, 5, 0xffffe, 31);
    window[0] = compressed(window[0]);
    window[1] = compressed(window[1]);
    EXPECT_TRUE(same(operation(Opcode::load_const_lui, 2, 4, {5}, -0x2000 + 31), window, some_pc,
                     Version::v1));
}

TEST(LoadConstAuipc, never_overflows)
{
    struct Case
    {
        std::uint64_t pc;
        std::uint32_t hi;
        std::int32_t lo;
        bool fits;
    };
    constexpr std::uint64_t two_31 = std::uint64_t{1} << 31;
    for (const auto& [pc, hi, lo, fits] :
         std::initializer_list<Case>{// The address.
                                     {two_31 - 1, 0, 0, true},
                                     {two_31, 0, 0, false},
                                     {two_31, 0xfffff, 0, false},
                                     {two_31 - 2, 0xfffff, -8, true},
                                     {two_31 << 1, 0, 0, false},
                                     {(two_31 << 1) + 0x1000, 0, 0, false},
                                     {two_31 << 32, 0, 0, false},
                                     {~std::uint64_t{1}, 0, 0, false},
                                     // The immediate, where the value itself would fit.
                                     {0x1000, 0x80000, -1, false},
                                     {0x1000, 0x80000, -2048, false},
                                     {0x1000, 0x80000, 0, true},
                                     {0, 0x80001, -2048, true},
                                     {0, 0x80000, -1, false},
                                     // The value, where address and immediate fit.
                                     {0xffe, 0x7ffff, 1, true},
                                     {0xfff, 0x7ffff, 0, true},
                                     {0x1000, 0x7ffff, -1, true},
                                     {0x1000, 0x7ffff, 0, false},
                                     {two_31 - 1, 0, 1, false},
                                     {two_31 - 2, 0, 1, true}})
    {
        const auto window = constant(Opcode::auipc, Opcode::addi, 5, hi, lo);
        const auto sum = static_cast<std::int32_t>((hi << 12) + static_cast<std::uint32_t>(lo));
        const auto expected = operation(Opcode::load_const_auipc, 2, 8, {5}, sum);
        EXPECT_TRUE(same(fits ? std::optional{expected} : std::nullopt, window, pc, Version::v2));
        EXPECT_EQ(in_v1(window, pc), "none");
    }
}

TEST(Fusion, leaves_other_pairs_alone)
{
    for (const auto& window :
         std::initializer_list<Window>{{},
                                       {add(5, 6, 7)},
                                       {Instruction{}, Instruction{}},
                                       {imm(Opcode::slli, 5, 5, 32), imm(Opcode::srli, 5, 5, 32)},
                                       {upper(Opcode::auipc, 5, 1), imm(Opcode::ld, 5, 5, 8)},
                                       {upper(Opcode::lui, 5, 1), imm(Opcode::ld, 5, 5, 8)},
                                       {reg(Opcode::addw, 5, 6, 7), sltu(8, 5, 6)},
                                       {reg(Opcode::subw, 5, 6, 7), sltu(8, 6, 7)},
                                       {add(5, 6, 7), reg(Opcode::slt, 8, 5, 6)},
                                       {imm(Opcode::addi, 5, 6, 1), sltu(8, 5, 6)}})
        for (const Version version : all_versions)
            EXPECT_EQ(rule(window, version), "none") << show(window);
}
}  // namespace
}  // namespace mopvm::fusion
