// SPDX-License-Identifier: MIT
// B against references that look at one bit or byte at a time.

#include "unit/semantics_fixture.hpp"

#include <bitset>

namespace mopvm::semantics::test
{
namespace
{
bool bit(std::uint64_t value, std::uint64_t index)
{
    return (value >> index) % 2 == 1;
}

/// The number whose bit i is @p is_set(i), for i below 64.
template <typename IsSet>
std::uint64_t from_bits(IsSet&& is_set)
{
    std::uint64_t value = 0;
    for (std::uint64_t i = 64; i-- > 0;)
        value = value * 2 + (is_set(i) ? 1 : 0);
    return value;
}

/// Bits of the carry-less product from @p lowest on, 64 of them.
std::uint64_t carryless_product(std::uint64_t a, std::uint64_t b, std::size_t lowest)
{
    std::bitset<128> product;
    for (std::size_t i = 0; i < 64; ++i) {
        for (std::size_t j = 0; j < 64; ++j) {
            if (bit(a, i) && bit(b, j))
                product.flip(i + j);
        }
    }
    return from_bits([&](std::uint64_t i) { return product[lowest + i]; });
}

std::uint64_t rotated_left(std::uint64_t a, std::uint64_t amount, std::uint64_t width)
{
    return from_bits(
        [&](std::uint64_t i) { return i < width && bit(a, (i + width - amount % width) % width); });
}

std::uint64_t leading_zeros(std::uint64_t a, std::uint64_t width)
{
    std::uint64_t count = 0;
    while (count < width && !bit(a, width - 1 - count))
        ++count;
    return count;
}

std::uint64_t trailing_zeros(std::uint64_t a, std::uint64_t width)
{
    std::uint64_t count = 0;
    while (count < width && !bit(a, count))
        ++count;
    return count;
}

std::uint64_t ones(std::uint64_t a, std::uint64_t width)
{
    std::uint64_t count = 0;
    for (std::uint64_t i = 0; i < width; ++i) {
        if (bit(a, i))
            ++count;
    }
    return count;
}

bool less_signed(std::uint64_t a, std::uint64_t b)
{
    return bit(a, 63) == bit(b, 63) ? a < b : bit(a, 63);
}

template <std::uint64_t factor>
std::uint64_t expected_shadd(std::uint64_t a, std::uint64_t b)
{
    return a * factor + b;
}
template <std::uint64_t factor>
std::uint64_t expected_shadd_uw(std::uint64_t a, std::uint64_t b)
{
    return a % 0x1'0000'0000 * factor + b;
}
std::uint64_t expected_slli_uw(std::uint64_t a, std::uint64_t b)
{
    return from_bits([&](std::uint64_t i) { return i >= b && i - b < 32 && bit(a, i - b); });
}
std::uint64_t expected_andn(std::uint64_t a, std::uint64_t b)
{
    return from_bits([&](std::uint64_t i) { return bit(a, i) && !bit(b, i); });
}
std::uint64_t expected_orn(std::uint64_t a, std::uint64_t b)
{
    return from_bits([&](std::uint64_t i) { return bit(a, i) || !bit(b, i); });
}
std::uint64_t expected_xnor(std::uint64_t a, std::uint64_t b)
{
    return from_bits([&](std::uint64_t i) { return bit(a, i) == bit(b, i); });
}
std::uint64_t expected_min(std::uint64_t a, std::uint64_t b)
{
    return less_signed(a, b) ? a : b;
}
std::uint64_t expected_minu(std::uint64_t a, std::uint64_t b)
{
    return a < b ? a : b;
}
std::uint64_t expected_max(std::uint64_t a, std::uint64_t b)
{
    return less_signed(a, b) ? b : a;
}
std::uint64_t expected_maxu(std::uint64_t a, std::uint64_t b)
{
    return a < b ? b : a;
}
std::uint64_t expected_rol(std::uint64_t a, std::uint64_t b)
{
    return rotated_left(a, b % 64, 64);
}
std::uint64_t expected_ror(std::uint64_t a, std::uint64_t b)
{
    return rotated_left(a, 64 - b % 64, 64);
}
std::uint64_t expected_rolw(std::uint64_t a, std::uint64_t b)
{
    return signed_field(rotated_left(a, b % 32, 32), 32);
}
std::uint64_t expected_rorw(std::uint64_t a, std::uint64_t b)
{
    return signed_field(rotated_left(a, 32 - b % 32, 32), 32);
}
std::uint64_t expected_clmul(std::uint64_t a, std::uint64_t b)
{
    return carryless_product(a, b, 0);
}
std::uint64_t expected_clmulr(std::uint64_t a, std::uint64_t b)
{
    return carryless_product(a, b, 63);
}
std::uint64_t expected_clmulh(std::uint64_t a, std::uint64_t b)
{
    return carryless_product(a, b, 64);
}
std::uint64_t expected_bclr(std::uint64_t a, std::uint64_t b)
{
    return from_bits([&](std::uint64_t i) { return bit(a, i) && i != b % 64; });
}
std::uint64_t expected_bext(std::uint64_t a, std::uint64_t b)
{
    return bit(a, b % 64) ? 1 : 0;
}
std::uint64_t expected_binv(std::uint64_t a, std::uint64_t b)
{
    return from_bits([&](std::uint64_t i) { return bit(a, i) != (i == b % 64); });
}
std::uint64_t expected_bset(std::uint64_t a, std::uint64_t b)
{
    return from_bits([&](std::uint64_t i) { return bit(a, i) || i == b % 64; });
}

class SemanticsBitmanipRegister : public ::testing::TestWithParam<Computation>
{};

TEST_P(SemanticsBitmanipRegister, MatchesReference)
{
    check_register_form(GetParam());
}

INSTANTIATE_TEST_SUITE_P(Instructions,
                         SemanticsBitmanipRegister,
                         ::testing::ValuesIn(std::to_array<Computation>({
                             {Opcode::add_uw, expected_shadd_uw<1>},
                             {Opcode::sh1add, expected_shadd<2>},
                             {Opcode::sh2add, expected_shadd<4>},
                             {Opcode::sh3add, expected_shadd<8>},
                             {Opcode::sh1add_uw, expected_shadd_uw<2>},
                             {Opcode::sh2add_uw, expected_shadd_uw<4>},
                             {Opcode::sh3add_uw, expected_shadd_uw<8>},
                             {Opcode::andn, expected_andn},
                             {Opcode::orn, expected_orn},
                             {Opcode::xnor, expected_xnor},
                             {Opcode::min, expected_min},
                             {Opcode::minu, expected_minu},
                             {Opcode::max, expected_max},
                             {Opcode::maxu, expected_maxu},
                             {Opcode::rol, expected_rol},
                             {Opcode::ror, expected_ror},
                             {Opcode::rolw, expected_rolw},
                             {Opcode::rorw, expected_rorw},
                             {Opcode::clmul, expected_clmul},
                             {Opcode::clmulr, expected_clmulr},
                             {Opcode::clmulh, expected_clmulh},
                             {Opcode::bclr, expected_bclr},
                             {Opcode::bext, expected_bext},
                             {Opcode::binv, expected_binv},
                             {Opcode::bset, expected_bset},
                         })),
                         computation_name);

class SemanticsBitmanipShift : public ::testing::TestWithParam<Computation>
{};

TEST_P(SemanticsBitmanipShift, MatchesReferenceForEveryAmount)
{
    const bool word = isa::traits(GetParam().opcode).format == isa::Format::shift5;
    check_immediate_form(GetParam(), numbers_below(word ? 32 : 64));
}

INSTANTIATE_TEST_SUITE_P(Instructions,
                         SemanticsBitmanipShift,
                         ::testing::ValuesIn(std::to_array<Computation>({
                             {Opcode::slli_uw, expected_slli_uw},
                             {Opcode::rori, expected_ror},
                             {Opcode::roriw, expected_rorw},
                             {Opcode::bclri, expected_bclr},
                             {Opcode::bexti, expected_bext},
                             {Opcode::binvi, expected_binv},
                             {Opcode::bseti, expected_bset},
                         })),
                         computation_name);

template <std::uint64_t count(std::uint64_t, std::uint64_t), std::uint64_t width>
std::uint64_t expected_count(std::uint64_t a, std::uint64_t /*b*/)
{
    return count(a, width);
}
template <unsigned width>
std::uint64_t expected_sext(std::uint64_t a, std::uint64_t /*b*/)
{
    return signed_field(a, width);
}
std::uint64_t expected_zext_h(std::uint64_t a, std::uint64_t /*b*/)
{
    return a % 0x1'0000;
}
std::uint64_t expected_orc_b(std::uint64_t a, std::uint64_t /*b*/)
{
    return from_bits(
        [&](std::uint64_t i) { return field(a, static_cast<unsigned>(i / 8 * 8), 8) != 0; });
}
std::uint64_t expected_rev8(std::uint64_t a, std::uint64_t /*b*/)
{
    return from_bits([&](std::uint64_t i) { return bit(a, (7 - i / 8) * 8 + i % 8); });
}

class SemanticsBitmanipUnary : public ::testing::TestWithParam<Computation>
{};

TEST_P(SemanticsBitmanipUnary, MatchesReference)
{
    Guest guest{0};
    for_value_pairs(
        [&](std::uint64_t a, std::uint64_t b) { check_computation(guest, GetParam(), a ^ b, 0); });
    for (std::uint64_t i = 0; i < 64; ++i)
        check_computation(guest, GetParam(), std::uint64_t{1} << i, 0);
}

INSTANTIATE_TEST_SUITE_P(Instructions,
                         SemanticsBitmanipUnary,
                         ::testing::ValuesIn(std::to_array<Computation>({
                             {Opcode::clz, expected_count<leading_zeros, 64>},
                             {Opcode::ctz, expected_count<trailing_zeros, 64>},
                             {Opcode::cpop, expected_count<ones, 64>},
                             {Opcode::clzw, expected_count<leading_zeros, 32>},
                             {Opcode::ctzw, expected_count<trailing_zeros, 32>},
                             {Opcode::cpopw, expected_count<ones, 32>},
                             {Opcode::sext_b, expected_sext<8>},
                             {Opcode::sext_h, expected_sext<16>},
                             {Opcode::zext_h, expected_zext_h},
                             {Opcode::orc_b, expected_orc_b},
                             {Opcode::rev8, expected_rev8},
                         })),
                         computation_name);

TEST(SemanticsBitmanip, WordRotatesSignExtendAndIgnoreTheHighWord)
{
    using namespace handlers;
    constexpr std::uint64_t lowest_word = 0xffff'ffff'8000'0000;
    EXPECT_EQ(rorw(1, 1), lowest_word);
    EXPECT_EQ(rolw(1, 31), lowest_word);
    EXPECT_EQ(roriw(1, 1), lowest_word);
    EXPECT_EQ(rorw(0xffff'ffff'0000'0001, 0), 1u);
    EXPECT_EQ(roriw(0xffff'ffff'0000'0001, 0), 1u);
    EXPECT_EQ(rolw(0xffff'ffff'0000'0001, 32), 1u);
}

TEST(SemanticsBitmanip, CountsOfZeroAreTheWidth)
{
    using namespace handlers;
    EXPECT_EQ(clz(0), 64u);
    EXPECT_EQ(ctz(0), 64u);
    EXPECT_EQ(clzw(~std::uint64_t{0}), 0u);
    EXPECT_EQ(clzw(0xffff'ffff'0000'0000), 32u);
    EXPECT_EQ(ctzw(0xffff'ffff'0000'0000), 32u);
    EXPECT_EQ(cpopw(0xffff'ffff'0000'0000), 0u);
}
}  // namespace
}  // namespace mopvm::semantics::test
