// SPDX-License-Identifier: MIT
// M against schoolbook multiplication and long division, and the corner cases of both.

#include "unit/semantics_fixture.hpp"

namespace mopvm::semantics::test
{
namespace
{
constexpr std::uint64_t minus_one = ~std::uint64_t{0};
constexpr std::uint64_t smallest = std::uint64_t{1} << 63;

bool negative(std::uint64_t value)
{
    return value >= smallest;
}

std::uint64_t magnitude(std::uint64_t value)
{
    return negative(value) ? 0 - value : value;
}

struct Wide
{
    std::uint64_t high = 0;
    std::uint64_t low = 0;
};

/// The product in 128 bits, from four products of halves.
Wide schoolbook(std::uint64_t a, std::uint64_t b)
{
    const std::uint64_t a0 = field(a, 0, 32);
    const std::uint64_t a1 = field(a, 32, 32);
    const std::uint64_t b0 = field(b, 0, 32);
    const std::uint64_t b1 = field(b, 32, 32);
    const std::uint64_t middle =
        field(a0 * b0, 32, 32) + field(a0 * b1, 0, 32) + field(a1 * b0, 0, 32);
    return {a1 * b1 + field(a0 * b1, 32, 32) + field(a1 * b0, 32, 32) + field(middle, 32, 32),
            field(a0 * b0, 0, 32) + (middle << 32)};
}

Wide negated(Wide value)
{
    const std::uint64_t low = 0 - value.low;
    return {~value.high + (low == 0 ? 1 : 0), low};
}

struct Division
{
    std::uint64_t quotient = 0;
    std::uint64_t remainder = 0;
};

/// Long division in base 2; the divisor is not 0.
Division long_division(std::uint64_t a, std::uint64_t b)
{
    Division result;
    for (unsigned bit = 64; bit-- > 0;) {
        const bool carry = negative(result.remainder);
        result.remainder = result.remainder * 2 + (a >> bit) % 2;
        result.quotient *= 2;
        if (carry || result.remainder >= b) {
            result.remainder -= b;
            result.quotient += 1;
        }
    }
    return result;
}

std::uint64_t expected_mul(std::uint64_t a, std::uint64_t b)
{
    return schoolbook(a, b).low;
}
std::uint64_t expected_mulh(std::uint64_t a, std::uint64_t b)
{
    const Wide product = schoolbook(magnitude(a), magnitude(b));
    return (negative(a) != negative(b) ? negated(product) : product).high;
}
std::uint64_t expected_mulhsu(std::uint64_t a, std::uint64_t b)
{
    const Wide product = schoolbook(magnitude(a), b);
    return (negative(a) ? negated(product) : product).high;
}
std::uint64_t expected_mulhu(std::uint64_t a, std::uint64_t b)
{
    return schoolbook(a, b).high;
}
std::uint64_t expected_divu(std::uint64_t a, std::uint64_t b)
{
    return b == 0 ? minus_one : long_division(a, b).quotient;
}
std::uint64_t expected_remu(std::uint64_t a, std::uint64_t b)
{
    return b == 0 ? a : long_division(a, b).remainder;
}
std::uint64_t expected_div(std::uint64_t a, std::uint64_t b)
{
    if (b == 0)
        return minus_one;
    const std::uint64_t quotient = long_division(magnitude(a), magnitude(b)).quotient;
    return negative(a) != negative(b) ? 0 - quotient : quotient;
}
std::uint64_t expected_rem(std::uint64_t a, std::uint64_t b)
{
    if (b == 0)
        return a;
    const std::uint64_t remainder = long_division(magnitude(a), magnitude(b)).remainder;
    return negative(a) ? 0 - remainder : remainder;
}
std::uint64_t expected_mulw(std::uint64_t a, std::uint64_t b)
{
    return signed_field(schoolbook(field(a, 0, 32), field(b, 0, 32)).low, 32);
}
std::uint64_t expected_divw(std::uint64_t a, std::uint64_t b)
{
    return signed_field(expected_div(signed_field(a, 32), signed_field(b, 32)), 32);
}
std::uint64_t expected_divuw(std::uint64_t a, std::uint64_t b)
{
    return signed_field(expected_divu(field(a, 0, 32), field(b, 0, 32)), 32);
}
std::uint64_t expected_remw(std::uint64_t a, std::uint64_t b)
{
    return signed_field(expected_rem(signed_field(a, 32), signed_field(b, 32)), 32);
}
std::uint64_t expected_remuw(std::uint64_t a, std::uint64_t b)
{
    return signed_field(expected_remu(field(a, 0, 32), field(b, 0, 32)), 32);
}

class SemanticsMulDivRegister : public ::testing::TestWithParam<Computation>
{};

TEST_P(SemanticsMulDivRegister, MatchesReference)
{
    check_register_form(GetParam());
}

INSTANTIATE_TEST_SUITE_P(Instructions,
                         SemanticsMulDivRegister,
                         ::testing::ValuesIn(std::to_array<Computation>({
                             {Opcode::mul, expected_mul},
                             {Opcode::mulh, expected_mulh},
                             {Opcode::mulhsu, expected_mulhsu},
                             {Opcode::mulhu, expected_mulhu},
                             {Opcode::div, expected_div},
                             {Opcode::divu, expected_divu},
                             {Opcode::rem, expected_rem},
                             {Opcode::remu, expected_remu},
                             {Opcode::mulw, expected_mulw},
                             {Opcode::divw, expected_divw},
                             {Opcode::divuw, expected_divuw},
                             {Opcode::remw, expected_remw},
                             {Opcode::remuw, expected_remuw},
                         })),
                         computation_name);

TEST(SemanticsMulDiv, DivisionByZeroAnswersAllOnesAndTheDividend)
{
    using namespace handlers;
    EXPECT_EQ(div(7, 0), minus_one);
    EXPECT_EQ(divu(7, 0), minus_one);
    EXPECT_EQ(rem(7, 0), 7u);
    EXPECT_EQ(remu(7, 0), 7u);
    EXPECT_EQ(divw(0x1234'5678'8000'0000, 0), minus_one);
    EXPECT_EQ(divuw(0x1234'5678'8000'0000, 0), minus_one);
    EXPECT_EQ(remw(0x1234'5678'8000'0000, 0), 0xffff'ffff'8000'0000u);
    EXPECT_EQ(remuw(0x1234'5678'8000'0000, 0), 0xffff'ffff'8000'0000u);
}

TEST(SemanticsMulDiv, WordFormsLookAtTheLowWordOfTheDivisor)
{
    using namespace handlers;
    EXPECT_EQ(divw(7, 0x5'0000'0000), minus_one);
    EXPECT_EQ(divuw(7, 0x5'0000'0000), minus_one);
    EXPECT_EQ(remw(7, 0x5'0000'0000), 7u);
    EXPECT_EQ(remuw(7, 0x5'0000'0000), 7u);
}

TEST(SemanticsMulDiv, SignedOverflowKeepsTheDividend)
{
    using namespace handlers;
    EXPECT_EQ(div(smallest, minus_one), smallest);
    EXPECT_EQ(rem(smallest, minus_one), 0u);
    EXPECT_EQ(divw(0x1234'5678'8000'0000, minus_one), 0xffff'ffff'8000'0000u);
    EXPECT_EQ(remw(0x1234'5678'8000'0000, minus_one), 0u);
    EXPECT_EQ(divw(0x8000'0000, 0xffff'ffff), 0xffff'ffff'8000'0000u);
}

TEST(SemanticsMulDiv, WordProductsAreSignExtended)
{
    using namespace handlers;
    EXPECT_EQ(mulw(1, minus_one), minus_one);
    EXPECT_EQ(mulw(0xffff'ffff, 0xffff'ffff), 1u);
    EXPECT_EQ(mulw(0x1'0000, 0x1'0000), 0u);
    EXPECT_EQ(mulw(0x8000, 0x1'0000), 0xffff'ffff'8000'0000u);
}

TEST(SemanticsMulDiv, DestinationMayBeASource)
{
    Guest guest{0};
    guest.state.x[5] = 7;
    guest.state.x[6] = 0;
    ASSERT_EQ(guest.run({.opcode = Opcode::rem, .length = 4, .rd = 5, .rs1 = 5, .rs2 = 6}),
              Outcome::next);
    EXPECT_EQ(guest.state.x[5], 7u);
    ASSERT_EQ(guest.run({.opcode = Opcode::div, .length = 4, .rd = 6, .rs1 = 5, .rs2 = 6}),
              Outcome::next);
    EXPECT_EQ(guest.state.x[6], minus_one);
}
}  // namespace
}  // namespace mopvm::semantics::test
