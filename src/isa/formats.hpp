// SPDX-License-Identifier: MIT
/// @file
/// How each format keeps its immediate in a word and writes its operands.
#pragma once

#include "isa/fields.hpp"
#include "isa/opcode.hpp"

#include <array>
#include <cstddef>
#include <string_view>

namespace mopvm::isa
{
/// What a format fixes.
struct FormatTraits
{
    ImmediateMap immediate;     ///< Of a 32-bit encoding.
    std::string_view operands;  ///< A form of spelling.hpp.
};

namespace detail
{
/// In the order of Format.
inline constexpr auto format_traits_table = std::to_array<FormatTraits>({
    // clang-format off
    {ImmediateMap(""),                                                "" },         // none
    {ImmediateMap("signed 31:20=11:0"),                               "f"},         // fence
    {ImmediateMap("signed 31:12=31:12"),                              "d,u"},       // upper
    {ImmediateMap("signed 31=20 30:21=10:1 20=11 19:12=19:12"),       "d"},         // jump
    {ImmediateMap("signed 31:20=11:0"),                               "d,i(s)"},    // indirect
    {ImmediateMap("signed 31=12 30:25=10:5 11:8=4:1 7=11"),           "s,t"},       // branch
    {ImmediateMap("signed 31:20=11:0"),                               "d,i(s)"},    // load
    {ImmediateMap("signed 31:25=11:5 11:7=4:0"),                      "t,i(s)"},    // store
    {ImmediateMap("signed 31:20=11:0"),                               "d,s,i"},     // immediate
    {ImmediateMap("25:20=5:0"),                                       "d,s,x"},     // shift6
    {ImmediateMap("24:20=4:0"),                                       "d,s,x"},     // shift5
    {ImmediateMap(""),                                                "d,s,t"},     // reg
    {ImmediateMap(""),                                                "d,s"},       // unary
    {ImmediateMap(""),                                                "d,(s)"},     // reserve
    {ImmediateMap(""),                                                "d,t,(s)"},   // atomic
    {ImmediateMap(""),                                                "d,s,t,v,w"}, // fused
    // clang-format on
});
static_assert(format_traits_table.size() == static_cast<std::size_t>(Format::fused) + 1);
}  // namespace detail

/// What @p format fixes.
[[nodiscard]] constexpr const FormatTraits& traits(Format format) noexcept
{
    return detail::format_traits_table[static_cast<std::size_t>(format)];
}
}  // namespace mopvm::isa
