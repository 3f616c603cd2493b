// SPDX-License-Identifier: MIT
// The start-up test of emitted handlers: it notices handlers that do something else, and says
// which.

#include "unit/asm_x64_host.hpp"

#include "asm_x64/emitter.hpp"
#include "asm_x64/self_test.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <set>
#include <string>

namespace mopvm::test
{
namespace
{
using asm_x64::Handlers;
using asm_x64::HostFeatures;
using asm_x64::Sequence;
using asm_x64::Shape;
using asm_x64::Unit;

/// Adds a handler that does nothing, and goes to the next cell; `does_nothing` is where it begins.
std::size_t does_nothing = 0;
void add_nothing(asmjit::CodeHolder& code)
{
    constexpr asm_x64::Token no_effect{.unit = Unit::fence};
    does_nothing = asm_x64::Emitter{code, {}}.emit_handler({&no_effect, 1});
}

const asm_x64::EmitOptions with_nothing{.host = counting_host, .tamper = add_nothing};

constexpr auto unit_at = [](std::size_t i) { return static_cast<Unit>(i); };

/// Offsets of handlers in the code, which are the same each time.
class Offsets
{
public:
    explicit Offsets(std::span<const Sequence> sequences)
        : m_handlers{Handlers::emit(sequences, with_nothing).value()},
          m_begin{reinterpret_cast<std::uintptr_t>(CountingHost::last.data())}
    {}
    [[nodiscard]] std::size_t of(Unit unit) const { return m_handlers.of_unit(unit) - m_begin; }
    [[nodiscard]] std::size_t of_sequence(std::size_t i) const
    {
        return m_handlers.of_sequence(static_cast<std::uint16_t>(i)) - m_begin;
    }

private:
    Handlers m_handlers;
    std::uintptr_t m_begin;
};

class AsmSelfTest : public testing::Test
{
protected:
    AsmSelfTest() { CountingHost::reset(); }

    /// What the test says when the handler at offset @p from jumps to that at @p to.
    static std::string verdict(std::span<const Sequence> sequences,
                               std::size_t from,
                               std::size_t to)
    {
        CountingHost::change = [&](std::span<std::byte> code) {
            constexpr std::size_t length = 5;
            const auto distance = static_cast<std::int32_t>(to - (from + length));
            code[from] = std::byte{0xe9};
            std::memcpy(&code[from + 1], &distance, sizeof(distance));
        };
        const auto handlers = Handlers::emit(sequences, with_nothing);
        CountingHost::change = {};
        return handlers ? self_test(*handlers, sequences) : handlers.error();
    }
};

/// Not tested at the start are those that leave at once, and those that call the reference.
bool is_tested(Unit unit)
{
    const Shape of = shape(unit);
    if (of == Shape::nothing || of == Shape::leave || of == Shape::semantic || of == Shape::count ||
        of == Shape::unresolved)
        return false;
    // The same code as another unit that is.
    for (std::size_t i = 1; i < index(unit); ++i) {
        if (shape(unit_at(i)) == of && unit_code(unit_at(i)).code == unit_code(unit).code &&
            unit_code(unit_at(i)).width == unit_code(unit).width)
            return false;
    }
    return true;
}

std::string wrong(Unit unit)
{
    return "the emitted handler of " + std::string{name(unit)} +
           " gives a wrong result on this processor";
}

TEST_F(AsmSelfTest, says_nothing_of_good_handlers)
{
    const auto chosen = asm_x64::chosen_sequences();
    const auto handlers = Handlers::emit(chosen, {.host = counting_host});
    ASSERT_TRUE(handlers);
    EXPECT_EQ(self_test(*handlers, chosen), "");
}

TEST_F(AsmSelfTest, says_nothing_of_handlers_for_any_processor)
{
    const auto chosen = asm_x64::chosen_sequences();
    const auto here = HostFeatures::of_this_host();
    std::set<std::size_t> sizes;
    for (unsigned bits = 0; bits < 32; ++bits) {
        // Only what can run here.
        const HostFeatures features{.popcnt = here.popcnt && (bits & 1U) != 0,
                                    .lzcnt = here.lzcnt && (bits & 2U) != 0,
                                    .bmi1 = here.bmi1 && (bits & 4U) != 0,
                                    .bmi2 = here.bmi2 && (bits & 8U) != 0,
                                    .pclmul = here.pclmul && (bits & 16U) != 0};
        const auto handlers = Handlers::emit(chosen, {.host = counting_host, .features = features});
        ASSERT_TRUE(handlers) << handlers.error();
        EXPECT_EQ(self_test(*handlers, chosen), "") << bits;
        sizes.insert(handlers->code_bytes());
    }
    EXPECT_EQ(sizes.size() > 1, here != HostFeatures{}) << "they differ";
}

/// True when they have the same operands, so that one can stand in place of the other.
bool are_alike(Unit a, Unit b)
{
    const auto kind = [](Unit unit) {
        return shape(unit) == Shape::load_signed ? Shape::load : shape(unit);
    };
    return a != b && kind(a) == kind(b);
}

TEST_F(AsmSelfTest, tells_every_handler_from_those_that_are_like_it)
{
    const Offsets offsets{{}};
    for (std::size_t i = 1; i < asm_x64::unit_count; ++i) {
        if (!is_tested(unit_at(i)))
            continue;
        for (std::size_t j = 1; j < asm_x64::unit_count; ++j) {
            if (!are_alike(unit_at(i), unit_at(j)) || !is_tested(unit_at(j)))
                continue;
            EXPECT_EQ(verdict({}, offsets.of(unit_at(i)), offsets.of(unit_at(j))),
                      wrong(unit_at(i)))
                << "it did what " << name(unit_at(j)) << " does";
        }
    }
}

TEST_F(AsmSelfTest, notices_handlers_that_do_nothing)
{
    const Offsets offsets{{}};
    for (std::size_t i = 1; i < asm_x64::unit_count; ++i) {
        const Unit unit = unit_at(i);
        if (is_tested(unit) && cells(shape(unit)) == 1 && !transfers(shape(unit))) {
            EXPECT_EQ(verdict({}, offsets.of(unit), does_nothing), wrong(unit));
        }
    }
}

TEST_F(AsmSelfTest, notices_handlers_that_leave)
{
    const Offsets offsets{{}};
    for (std::size_t i = 1; i < asm_x64::unit_count; ++i) {
        const Unit unit = unit_at(i);
        if (!is_tested(unit) || !transfers(shape(unit)))
            continue;
        // Untaken branches are tested first, and go on by `go_on`.
        EXPECT_EQ(verdict({}, offsets.of(unit), offsets.of(Unit::ebreak)),
                  wrong(unit == Unit::go_on ? Unit::beq : unit));
    }
}

TEST_F(AsmSelfTest, names_the_sequence_that_is_wrong)
{
    const auto chosen = asm_x64::chosen_sequences();
    const Offsets offsets{chosen};
    std::size_t tested = 0;
    for (std::size_t i = 0; i < chosen.size() && tested < 24; ++i) {
        // Its first unit does nothing; those behind it are run singly.
        if (cells(shape(chosen[i].tokens[0].unit)) != 1)
            continue;
        ++tested;
        std::string names;
        for (const asm_x64::Token& token : chosen[i].span())
            names += ' ' + std::string{name(token.unit)};
        EXPECT_EQ(verdict(chosen, offsets.of_sequence(i), does_nothing),
                  "the emitted handler of the sequence" + names +
                      " gives a wrong result on this processor");
    }
    EXPECT_GT(tested, 0U);
}
}  // namespace
}  // namespace mopvm::test
