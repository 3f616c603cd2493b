// SPDX-License-Identifier: MIT
// Fused operations against the instructions that they replace, over every assignment of x0 to x4 to
// their register slots.

#include "unit/semantics_fixture.hpp"

#include <functional>
#include <limits>
#include <set>

namespace mopvm::semantics::test
{
namespace
{
/// Registers in the slots r0 to r4.
using Slots = std::array<std::uint8_t, 5>;

/// One instruction of a sequence: its operands are slot numbers.
struct Part
{
    Opcode opcode;
    std::size_t rd;
    std::size_t rs1;
    std::size_t rs2;
};

/// A fused operation, the sequence that it stands for, and which assignments are accepted.
struct Sequence
{
    Opcode fused;
    std::size_t slot_count;
    std::vector<Part> parts;
    /// Pairs of slots that must hold different registers.
    std::vector<std::pair<std::size_t, std::size_t>> different;
    /// Slots that must not hold x0.
    std::vector<std::size_t> not_x0;
};

void PrintTo(const Sequence& sequence, std::ostream* out)
{
    *out << isa::traits(sequence.fused).mnemonic;
}

std::string sequence_name(const ::testing::TestParamInfo<Sequence>& info)
{
    return test_name(info.param.fused);
}

Sequence wide(Opcode fused, Opcode high, Opcode low)
{
    return {fused, 4, {{high, 0, 1, 2}, {low, 3, 1, 2}}, {{0, 1}, {0, 2}, {0, 3}}, {}};
}

const std::vector<Sequence>& sequences()
{
    using enum Opcode;
    static const std::vector<Sequence> all{
        {Opcode::adc,
         3,
         {{add, 0, 0, 1}, {sltu, 1, 0, 1}, {add, 0, 0, 2}, {sltu, 2, 0, 2}, {or_, 1, 1, 2}},
         {{0, 1}, {0, 2}, {1, 2}},
         {0, 1, 2}},
        {Opcode::sbb,
         4,
         {{sub, 0, 1, 0}, {sltu, 2, 1, 0}, {sub, 1, 0, 3}, {sltu, 3, 0, 1}, {or_, 0, 3, 2}},
         {{0, 1}, {0, 2}, {0, 3}, {1, 2}, {1, 3}, {2, 3}},
         {0, 1, 2, 3}},
        wide(wide_mul, mulh, mul),
        wide(wide_mulu, mulhu, mul),
        wide(wide_mulsu, mulhsu, mul),
        wide(wide_div, Opcode::div, rem),
        wide(wide_divu, divu, remu),
        {adcs, 4, {{add, 0, 1, 2}, {sltu, 3, 0, 1}}, {{0, 1}}, {0}},
        {sbbs, 4, {{sub, 0, 1, 2}, {sltu, 3, 1, 2}}, {{0, 1}, {0, 2}}, {}},
        {add3a,
         5,
         {{add, 0, 1, 0}, {sltu, 2, 0, 1}, {add, 3, 2, 4}},
         {{0, 1}, {0, 4}, {2, 4}},
         {0, 2}},
        {add3b,
         5,
         {{add, 0, 1, 2}, {sltu, 1, 0, 1}, {add, 3, 1, 4}},
         {{0, 1}, {0, 4}, {1, 4}},
         {0, 1}},
        {add3c,
         5,
         {{add, 0, 1, 2}, {sltu, 3, 0, 1}, {add, 3, 3, 4}},
         {{0, 1}, {0, 4}, {3, 4}},
         {0, 3}},
    };
    return all;
}

/// Whether @p sequence fuses with the registers @p slots.
bool accepted(const Sequence& sequence, const Slots& slots)
{
    return std::ranges::all_of(
               sequence.different,
               [&](const auto& pair) { return slots[pair.first] != slots[pair.second]; }) &&
           std::ranges::all_of(sequence.not_x0, [&](std::size_t slot) { return slots[slot] != 0; });
}

Operation fused_operation(const Sequence& sequence, const Slots& slots)
{
    return {.opcode = sequence.fused,
            .length = static_cast<std::uint8_t>(4 * sequence.parts.size()),
            .parts = static_cast<std::uint8_t>(sequence.parts.size()),
            .rd = slots[0],
            .rs1 = slots[1],
            .rs2 = slots[2],
            .r3 = slots[3],
            .r4 = slots[4]};
}

Operation part_operation(const Part& part, const Slots& slots)
{
    return {.opcode = part.opcode,
            .length = 4,
            .parts = 1,
            .rd = slots[part.rd],
            .rs1 = slots[part.rs1],
            .rs2 = slots[part.rs2]};
}

/// Calls @p check with every assignment of x0 to x4 to @p count slots; the rest hold x0.
void for_assignments(std::size_t count, const std::function<void(const Slots&)>& check)
{
    std::size_t end = 1;
    for (std::size_t i = 0; i < count; ++i)
        end *= 5;
    for (std::size_t number = 0; number < end; ++number) {
        Slots slots{};
        std::size_t rest = number;
        for (std::size_t i = 0; i < count; ++i, rest /= 5)
            slots[i] = static_cast<std::uint8_t>(rest % 5);
        check(slots);
    }
}

std::string text(const Slots& slots)
{
    std::string result;
    for (const std::uint8_t slot : slots)
        result += " x" + std::to_string(slot);
    return result;
}

/// Gives x1 to x4 of both guests the same new values.
void set_registers(Guest& one, Guest& other, Values& values)
{
    for (std::size_t i = 1; i < 5; ++i)
        one.state.x[i] = other.state.x[i] = values.next();
    one.state.pc = other.state.pc = Guest::start;
}

class SemanticsFusedSequence : public ::testing::TestWithParam<Sequence>
{};

TEST_P(SemanticsFusedSequence, EqualsTheSequenceForEveryAcceptedAssignment)
{
    const Sequence& sequence = GetParam();
    Guest fused{0};
    Guest sequential{0};
    Values values;
    int assignments = 0;
    for_assignments(sequence.slot_count, [&](const Slots& slots) {
        if (!accepted(sequence, slots))
            return;
        ++assignments;
        for (int trial = 0; trial < 60; ++trial) {
            set_registers(fused, sequential, values);
            const Snapshot before = fused.snapshot();
            for (const Part& part : sequence.parts)
                ASSERT_EQ(sequential.run(part_operation(part, slots)), Outcome::next);
            ASSERT_EQ(fused.run(fused_operation(sequence, slots)), Outcome::next);
            ASSERT_TRUE(fused.snapshot() == sequential.snapshot())
                << "slots" << text(slots) << std::hex << ", x1 0x" << before.x[1] << " x2 0x"
                << before.x[2] << " x3 0x" << before.x[3] << " x4 0x" << before.x[4] << ", seed 0x"
                << seed;
        }
    });
    EXPECT_GT(assignments, 0);
}

INSTANTIATE_TEST_SUITE_P(Instructions,
                         SemanticsFusedSequence,
                         ::testing::ValuesIn(sequences()),
                         sequence_name);

TEST(SemanticsFused, SbbIgnoresTheRegisterThatTheSequenceComparesWith)
{
    const Sequence& sbb = sequences()[1];
    ASSERT_EQ(sbb.fused, Opcode::sbb);
    Guest fused{0};
    Guest sequential{0};
    Guest strict{0};
    Values values;
    std::set<std::uint8_t> differing;
    constexpr std::size_t compared = 4;
    for_assignments(5, [&](const Slots& slots) {
        if (!accepted(sbb, slots) || slots[compared] == slots[0])
            return;
        std::vector<Part> parts = sbb.parts;
        parts[1].rs2 = compared;
        for (int trial = 0; trial < 60; ++trial) {
            set_registers(fused, sequential, values);
            strict.state = fused.state;
            for (std::size_t i = 0; i < parts.size(); ++i) {
                ASSERT_EQ(sequential.run(part_operation(parts[i], slots)), Outcome::next);
                ASSERT_EQ(strict.run(part_operation(sbb.parts[i], slots)), Outcome::next);
            }
            Operation operation = fused_operation(sbb, slots);
            operation.r4 = 0;
            ASSERT_EQ(fused.run(operation), Outcome::next);
            // The strict sequence sees r1 - r0 in r0; the fused one the old r0.
            const bool agrees = std::ranges::equal(fused.state.x, strict.state.x);
            ASSERT_TRUE(agrees) << "slots" << text(slots);
            if (!std::ranges::equal(fused.state.x, sequential.state.x))
                differing.insert(slots[compared]);
        }
    });
    EXPECT_EQ(differing, (std::set<std::uint8_t>{0, 1, 2, 3, 4}));
}

TEST(SemanticsFused, SbbSubtractsWithBorrow)
{
    Guest guest{0};
    const auto run = [&](std::uint64_t minuend, std::uint64_t subtrahend,
                         std::uint64_t borrow_in) -> Slots {
        guest.state.x[1] = subtrahend;
        guest.state.x[2] = minuend;
        guest.state.x[4] = borrow_in;
        EXPECT_EQ(
            guest.run({.opcode = Opcode::sbb, .length = 20, .rd = 1, .rs1 = 2, .rs2 = 3, .r3 = 4}),
            Outcome::next);
        EXPECT_EQ(guest.state.x[2], minuend - subtrahend - borrow_in);
        return {0, static_cast<std::uint8_t>(guest.state.x[1]), 0,
                static_cast<std::uint8_t>(guest.state.x[3]),
                static_cast<std::uint8_t>(guest.state.x[4])};
    };
    EXPECT_EQ(run(5, 3, 1), (Slots{0, 0, 0, 0, 0}));
    EXPECT_EQ(run(5, 5, 1), (Slots{0, 1, 0, 0, 1}));
    EXPECT_EQ(run(5, 6, 0), (Slots{0, 1, 0, 1, 0}));
    EXPECT_EQ(run(0, ~std::uint64_t{0}, 1), (Slots{0, 1, 0, 1, 0}));
    EXPECT_EQ(run(0, 1, ~std::uint64_t{0}), (Slots{0, 1, 0, 1, 0}));
    EXPECT_EQ(run(0, 0, 1), (Slots{0, 1, 0, 0, 1}));
}

TEST(SemanticsFused, WideDivisionHasTheCornerCasesOfItsParts)
{
    Guest guest{0};
    const auto run = [&](Opcode opcode, std::uint64_t dividend, std::uint64_t divisor) {
        guest.state.x[3] = dividend;
        guest.state.x[4] = divisor;
        EXPECT_EQ(guest.run({.opcode = opcode, .length = 8, .rd = 1, .rs1 = 3, .rs2 = 4, .r3 = 2}),
                  Outcome::next);
        return std::pair{guest.state.x[1], guest.state.x[2]};
    };
    constexpr std::uint64_t minus_one = ~std::uint64_t{0};
    constexpr std::uint64_t smallest = std::uint64_t{1} << 63;
    EXPECT_EQ(run(Opcode::wide_div, 7, 0), std::pair(minus_one, std::uint64_t{7}));
    EXPECT_EQ(run(Opcode::wide_divu, 7, 0), std::pair(minus_one, std::uint64_t{7}));
    EXPECT_EQ(run(Opcode::wide_div, smallest, minus_one), std::pair(smallest, std::uint64_t{0}));
    EXPECT_EQ(run(Opcode::wide_divu, smallest, minus_one), std::pair(std::uint64_t{0}, smallest));
}

/// Upper parts and low parts of constants at which sums overflow or change sign.
constexpr auto upper_parts =
    std::to_array<std::int32_t>({0, 0x1000, -0x1000, 0x7fff'f000, 0x1234'5000, -0x7fff'f000,
                                 std::numeric_limits<std::int32_t>::min()});
constexpr auto low_parts = std::to_array<std::int32_t>({-2048, -2047, -1, 0, 1, 2, 1234, 2047});

/// The sum of both parts of a constant, before it is wrapped to 32 bits.
std::int64_t exact_sum(std::int32_t upper, std::int32_t low)
{
    return std::int64_t{upper} + low;
}

bool fits(std::int64_t value)
{
    return value >= std::numeric_limits<std::int32_t>::min() &&
           value <= std::numeric_limits<std::int32_t>::max();
}

std::int32_t wrapped(std::int64_t value)
{
    return static_cast<std::int32_t>(static_cast<std::uint32_t>(value));
}

/// A pair `head ra, upper; tail rd, low(ra)` and the operation that replaces it.
struct ConstantPair
{
    Opcode fused;
    Opcode head;
    Opcode tail;
};

/// Runs the pair, with lengths of @p tail_length bytes for the tail, and its fused form from the
/// same state, with @p through as the register between both.
void run_both(const ConstantPair& pair,
              Guest& sequential,
              Guest& fused,
              std::int32_t upper,
              std::int32_t low,
              std::uint8_t rd,
              std::uint8_t through,
              std::uint8_t tail_length = 4)
{
    ASSERT_EQ(sequential.run({.opcode = pair.head, .length = 4, .rd = through, .imm = upper}),
              Outcome::next);
    ASSERT_EQ(
        sequential.run(
            {.opcode = pair.tail, .length = tail_length, .rd = rd, .rs1 = through, .imm = low}),
        Outcome::next);
    ASSERT_EQ(fused.run({.opcode = pair.fused,
                         .length = static_cast<std::uint8_t>(4 + tail_length),
                         .parts = 2,
                         .rd = rd,
                         .rs1 = through,
                         .imm = wrapped(exact_sum(upper, low))}),
              Outcome::next);
}

/// Calls @p check with every upper part and every low part.
template <typename Check>
void for_constants(Check&& check)
{
    for (const std::int32_t upper : upper_parts) {
        for (const std::int32_t low : low_parts)
            check(upper, low);
    }
}

TEST(SemanticsFused, LoadConstantOfLuiEqualsTheSequenceEvenWhenItWraps)
{
    for_constants([](std::int32_t upper, std::int32_t low) {
        for (const std::uint8_t rd : {std::uint8_t{0}, std::uint8_t{5}}) {
            Guest sequential{0};
            Guest fused{0};
            run_both({Opcode::load_const_lui, Opcode::lui, Opcode::addiw}, sequential, fused, upper,
                     low, rd, rd);
            EXPECT_TRUE(fused.snapshot() == sequential.snapshot()) << upper << " " << low;
        }
    });
}

TEST(SemanticsFused, LoadConstantOfAuipcEqualsTheSequence)
{
    for_constants([](std::int32_t upper, std::int32_t low) {
        if (!fits(exact_sum(upper, low)))
            return;
        for (const std::uint8_t rd : {std::uint8_t{0}, std::uint8_t{5}}) {
            Guest sequential{0};
            Guest fused{0};
            sequential.state.pc = fused.state.pc = 0x1'2346;
            run_both({Opcode::load_const_auipc, Opcode::auipc, Opcode::addi}, sequential, fused,
                     upper, low, rd, rd, 2);
            EXPECT_TRUE(fused.snapshot() == sequential.snapshot()) << upper << " " << low;
        }
    });
}

TEST(SemanticsFused, KnownConstants)
{
    Guest guest{0};
    const auto run = [&](std::int32_t upper, std::int32_t low) {
        EXPECT_EQ(guest.run({.opcode = Opcode::load_const_lui,
                             .length = 8,
                             .parts = 2,
                             .rd = 5,
                             .imm = wrapped(exact_sum(upper, low))}),
                  Outcome::next);
        return guest.state.x[5];
    };
    constexpr std::int32_t lowest = std::numeric_limits<std::int32_t>::min();
    EXPECT_EQ(run(lowest, -1), 0x7fff'ffffu);
    EXPECT_EQ(run(0x7fff'f000, -1), 0x7fff'efffu);
    EXPECT_EQ(run(lowest, 0), 0xffff'ffff'8000'0000u);
    EXPECT_EQ(run(-0x1000, 2047), std::uint64_t{0} - 2049);
}

constexpr ConstantPair relative{Opcode::far_jump_rel, Opcode::auipc, Opcode::jalr};
constexpr ConstantPair absolute{Opcode::far_jump_abs, Opcode::lui, Opcode::jalr};

TEST(SemanticsFused, FarJumpsThroughRaEqualTheSequenceUnlessTheConstantOverflows)
{
    for (const ConstantPair& pair : {relative, absolute}) {
        for_constants([&](std::int32_t upper, std::int32_t low) {
            for (const std::uint8_t tail_length : {std::uint8_t{2}, std::uint8_t{4}}) {
                Guest sequential{0};
                Guest fused{0};
                run_both(pair, sequential, fused, upper, low, 1, 1, tail_length);
                EXPECT_EQ(fused.snapshot() == sequential.snapshot(), fits(exact_sum(upper, low)))
                    << upper << " " << low;
                EXPECT_EQ(fused.state.x[1], Guest::start + 4 + tail_length);
            }
        });
    }
}

TEST(SemanticsFused, FarJumpsThroughAnotherRegisterDoNotWriteIt)
{
    for (const ConstantPair& pair : {relative, absolute}) {
        for_constants([&](std::int32_t upper, std::int32_t low) {
            if (!fits(exact_sum(upper, low)))
                return;
            Guest sequential{0};
            Guest fused{0};
            run_both(pair, sequential, fused, upper, low, 1, 10);
            Snapshot expected = sequential.snapshot();
            expected.x[10] = Guest::marker(10);
            EXPECT_TRUE(fused.snapshot() == expected) << upper << " " << low;
        });
    }
}

TEST(SemanticsFused, FarJumpsThroughX0UseTheWholeConstant)
{
    Guest guest{0};
    ASSERT_EQ(guest.run({.opcode = Opcode::far_jump_rel, .length = 8, .rd = 1, .imm = 0x5005}),
              Outcome::next);
    EXPECT_EQ(guest.state.pc, Guest::start + 0x5004);
    EXPECT_EQ(guest.state.x[1], Guest::start + 8);
    ASSERT_EQ(guest.run({.opcode = Opcode::far_jump_abs, .length = 8, .rd = 1, .imm = 0x5005}),
              Outcome::next);
    EXPECT_EQ(guest.state.pc, 0x5004u);
    EXPECT_EQ(guest.state.x[1], Guest::start + 0x5004 + 8);
    EXPECT_EQ(guest.state.x[0], 0u);
}

TEST(SemanticsFused, FarJumpConstantsThatWrapped)
{
    constexpr std::int32_t lowest = std::numeric_limits<std::int32_t>::min();
    Guest guest{0};
    guest.state.pc = 0x1'0078;
    ASSERT_EQ(guest.run({.opcode = Opcode::far_jump_rel,
                         .length = 8,
                         .rd = 1,
                         .imm = wrapped(exact_sum(lowest, -0x7ff))}),
              Outcome::next);
    EXPECT_EQ(guest.state.pc, 0x8000'f878u);
    ASSERT_EQ(guest.run({.opcode = Opcode::far_jump_abs,
                         .length = 8,
                         .rd = 1,
                         .imm = wrapped(exact_sum(lowest, -1))}),
              Outcome::next);
    EXPECT_EQ(guest.state.pc, 0x7fff'fffeu);
    ASSERT_EQ(guest.run({.opcode = Opcode::far_jump_abs, .length = 8, .rd = 1, .imm = lowest}),
              Outcome::next);
    EXPECT_EQ(guest.state.pc, 0xffff'ffff'8000'0000u);
}
}  // namespace
}  // namespace mopvm::semantics::test
