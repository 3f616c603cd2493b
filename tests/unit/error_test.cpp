// SPDX-License-Identifier: MIT
// Names and messages of errors and exits.

#include <mopvm/mopvm.hpp>

#include <gtest/gtest.h>

#include <set>
#include <string>

namespace
{
using namespace mopvm;

constexpr int error_count = static_cast<int>(ErrorCode::backend_unavailable) + 1;

TEST(Errors, have_distinct_snake_case_names)
{
    std::set<std::string_view> names;
    for (int code = 0; code < error_count; ++code) {
        const std::string_view given = name(static_cast<ErrorCode>(code));
        EXPECT_TRUE(names.insert(given).second) << given;
        EXPECT_EQ(given.find_first_not_of("abcdefghijklmnopqrstuvwxyz_"), std::string_view::npos);
    }
    EXPECT_EQ(name(ErrorCode::mem_write_on_frozen_page), "mem_write_on_frozen_page");
    EXPECT_EQ(name(ErrorCode::cycles_exceeded), "cycles_exceeded");
}

TEST(Errors, have_sentences_without_open_places)
{
    for (int code = 0; code < error_count; ++code) {
        const std::string text = message(
            {.code = static_cast<ErrorCode>(code), .bits = 1, .address = 2, .text = "three"});
        EXPECT_GT(text.size(), 20U);
        EXPECT_EQ(text.find_first_of("{}"), std::string::npos) << text;
        EXPECT_NE(text.back(), '.');
    }
}

TEST(Errors, say_what_and_where)
{
    EXPECT_NE(message({.code = ErrorCode::mem_out_of_bound, .address = 0x400000})
                  .find("0x400000 is outside memory"),
              std::string::npos);
    EXPECT_NE(message({.code = ErrorCode::mem_out_of_bound, .kind = BoundKind::external_data})
                  .find("outside the data"),
              std::string::npos);
    EXPECT_NE(message({.code = ErrorCode::mem_write_on_executable_page, .address = 16})
                  .find("page 16 (address 0x10000)"),
              std::string::npos);
    EXPECT_NE(message({.code = ErrorCode::invalid_ecall, .address = 4711}).find("call 4711"),
              std::string::npos);
    EXPECT_NE(message({.code = ErrorCode::invalid_instruction, .bits = 0xffff, .address = 0x10})
                  .find("0xffff at 0x10"),
              std::string::npos);
    EXPECT_NE(message({.code = ErrorCode::elf_parse_error, .text = "too short"}).find("too short"),
              std::string::npos);
}

TEST(Errors, know_whether_they_carry_a_number)
{
    EXPECT_TRUE(has_address(ErrorCode::mem_out_of_bound));
    EXPECT_TRUE(has_address(ErrorCode::mem_write_on_executable_page));
    EXPECT_TRUE(has_address(ErrorCode::mem_write_on_frozen_page));
    EXPECT_TRUE(has_address(ErrorCode::mem_page_unaligned_access));
    EXPECT_TRUE(has_address(ErrorCode::invalid_instruction));
    EXPECT_TRUE(has_address(ErrorCode::invalid_ecall));
    EXPECT_TRUE(has_address(ErrorCode::elf_segment_unreadable));
    EXPECT_FALSE(has_address(ErrorCode::cycles_exceeded));
    EXPECT_FALSE(has_address(ErrorCode::mem_out_of_stack));
    EXPECT_FALSE(has_address(ErrorCode::external));
}

TEST(Errors, that_a_handler_made_up_are_unexpected)
{
    const auto made_up = static_cast<ErrorCode>(200);
    EXPECT_EQ(name(made_up), "unexpected");
    EXPECT_FALSE(has_address(made_up));
    EXPECT_NE(message({.code = made_up, .text = "why"}).find("why"), std::string::npos);
}

TEST(Exits, have_names)
{
    EXPECT_EQ(name(Exit::Reason::exited), "exited");
    EXPECT_EQ(name(Exit::Reason::error), "error");
    EXPECT_EQ(name(Exit::Reason::paused), "paused");
    EXPECT_EQ(name(Exit::Reason::yielded), "yielded");
}

TEST(CostModels, have_the_stated_prices)
{
    struct Price
    {
        std::string_view operation;
        std::uint32_t cycles;
    };
    for (const auto& [operation, cycles] : {Price{"ecall", 500},
                                            Price{"ebreak", 500},
                                            Price{"div", 32},
                                            Price{"remuw", 32},
                                            Price{"wide_div", 32},
                                            Price{"wide_divu", 32},
                                            Price{"mul", 5},
                                            Price{"mulhsu", 5},
                                            Price{"wide_mul", 5},
                                            Price{"wide_mulsu", 5},
                                            Price{"lr.w", 4},
                                            Price{"sc.w", 4},
                                            Price{"amomaxu.w", 4},
                                            Price{"lr.d", 3},
                                            Price{"amoswap.d", 3},
                                            Price{"jal", 3},
                                            Price{"jalr", 3},
                                            Price{"bgeu", 3},
                                            Price{"far_jump_rel", 3},
                                            Price{"far_jump_abs", 3},
                                            Price{"lb", 3},
                                            Price{"lwu", 3},
                                            Price{"sw", 3},
                                            Price{"ld", 2},
                                            Price{"sd", 2},
                                            Price{"add", 1},
                                            Price{"lui", 1},
                                            Price{"fence", 1},
                                            Price{"fence.i", 1},
                                            Price{"clmul", 1},
                                            Price{"sh1add.uw", 1},
                                            Price{"adc", 1},
                                            Price{"sbbs", 1},
                                            Price{"add3c", 1},
                                            Price{"load_const_lui", 1},
                                            Price{"load_const_auipc", 1}})
        EXPECT_EQ(CostModel::standard().cost(operation), cycles) << operation;
}

TEST(CostModels, can_be_changed)
{
    const auto changed = CostModel::standard().with("mul", 7);
    ASSERT_TRUE(changed);
    EXPECT_EQ(changed->cost("mul"), 7U);
    EXPECT_EQ(changed->cost("mulh"), 5U);
    EXPECT_NE(*changed, CostModel::standard());
    EXPECT_EQ(CostModel::zero().with("nonsense", 1).error().code, ErrorCode::invalid_config);
    EXPECT_EQ(CostModel::zero().cost("invalid").error().code, ErrorCode::invalid_config);
}

TEST(FusionRules, have_names)
{
    EXPECT_EQ(name(FusionRule::adc), "adc");
    EXPECT_EQ(name(FusionRule::far_jump_abs), "far_jump_abs");
    EXPECT_EQ(name(FusionRule::add3c), "add3c");
}
}  // namespace
