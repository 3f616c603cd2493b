// SPDX-License-Identifier: MIT
/// @file
/// A guest without a program for tests of single operations, and the values to try on them.
#pragma once

#include "semantics/execute.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <ostream>
#include <random>
#include <string>
#include <utility>
#include <vector>

namespace mopvm::semantics::test
{
using isa::Opcode;
using isa::Operation;

/// Every random test starts from this seed; failures print the operands beside it.
inline constexpr std::uint64_t seed = 0x6d6f'7076'6d01;

/// Values at which operations change their behaviour.
inline constexpr auto edge_values = std::to_array<std::uint64_t>({
    0,
    1,
    2,
    3,
    7,
    31,
    32,
    33,
    63,
    64,
    65,
    0x7f,
    0x80,
    0xff,
    0x7fff,
    0x8000,
    0xffff,
    0x7fff'ffff,
    0x8000'0000,
    0xffff'ffff,
    0x1'0000'0000,
    0x1'8000'0000,
    0x5'0000'0000,
    0x1234'5678'8000'0000,
    0x0123'4567'89ab'cdef,
    0x5555'5555'5555'5555,
    0xaaaa'aaaa'aaaa'aaaa,
    0x0100'0080'0001'ff00,
    0x7fff'ffff'ffff'ffff,
    0x8000'0000'0000'0000,
    0x8000'0000'0000'0001,
    0xffff'ffff'0000'0000,
    0xffff'ffff'0000'0001,
    0xffff'ffff'7fff'ffff,
    0xffff'ffff'8000'0000,
    0xffff'ffff'ffff'fff8,
    0xffff'ffff'ffff'fffe,
    0xffff'ffff'ffff'ffff,
});

/// Values from `seed`: edges and numbers of every magnitude.
class Values
{
public:
    [[nodiscard]] std::uint64_t bits() { return m_engine(); }

    [[nodiscard]] std::uint64_t next()
    {
        const std::uint64_t choice = m_engine();
        if (choice % 2 == 0)
            return edge_values[(choice >> 1) % edge_values.size()];
        return m_engine() >> ((choice >> 1) % 64);
    }

private:
    std::mt19937_64 m_engine{seed};
};

/// Calls @p check with pairs of values: all edges with all edges, then random ones.
template <typename Check>
void for_value_pairs(Check&& check)
{
    for (const std::uint64_t a : edge_values) {
        for (const std::uint64_t b : edge_values)
            check(a, b);
    }
    Values values;
    for (int i = 0; i < 2000; ++i) {
        const std::uint64_t a = values.next();
        check(a, values.next());
    }
}

/// Registers, pc and reservation: what an operation may change beside memory.
struct Snapshot
{
    std::array<std::uint64_t, isa::register_count> x{};
    std::uint64_t pc = 0;
    std::uint64_t reservation = 0;
    std::vector<std::uint8_t> bytes{};
    std::vector<std::uint8_t> flags{};

    friend bool operator==(const Snapshot&, const Snapshot&) = default;
};

/// A machine state with memory of its own; every register but x0 holds a number that tells it
/// apart.
class Guest
{
public:
    static constexpr std::uint64_t start = 0x1000;

    explicit Guest(std::uint64_t pages = 4) : m_bytes(pages * page_size), m_flags(pages)
    {
        const std::uint64_t size = m_bytes.size();
        state.memory = {
            .bytes = m_bytes.data(), .flags = m_flags.data(), .size = size, .load_end = size};
        state.pc = start;
        for (std::size_t i = 1; i < isa::register_count; ++i)
            state.x[i] = marker(i);
    }
    Guest(const Guest&) = delete;
    Guest& operator=(const Guest&) = delete;

    /// The value that register @p index starts with.
    [[nodiscard]] static std::uint64_t marker(std::size_t index)
    {
        return index == 0 ? 0 : 0xabcd'0000'0000'0000 + index;
    }

    [[nodiscard]] Outcome run(const Operation& operation) { return execute(state, operation); }

    [[nodiscard]] std::vector<std::uint8_t>& bytes() { return m_bytes; }
    [[nodiscard]] std::vector<std::uint8_t>& flags() { return m_flags; }
    [[nodiscard]] std::uint64_t size() const { return m_bytes.size(); }

    /// Fills memory with bytes that tell their addresses apart; about half have the top bit set.
    void fill_memory()
    {
        for (std::size_t i = 0; i < m_bytes.size(); ++i)
            m_bytes[i] = static_cast<std::uint8_t>(i * 167 + i / 256 * 13 + 91);
    }

    /// The @p count bytes at @p address as a little-endian number, read one by one.
    [[nodiscard]] std::uint64_t number_at(std::uint64_t address, unsigned count) const
    {
        std::uint64_t value = 0;
        for (unsigned i = count; i-- > 0;)
            value = value * 256 + m_bytes[address + i];
        return value;
    }

    /// Writes @p value as @p count little-endian bytes, one by one.
    void put_number(std::uint64_t address, unsigned count, std::uint64_t value)
    {
        for (unsigned i = 0; i < count; ++i)
            m_bytes[address + i] = static_cast<std::uint8_t>(value >> (8 * i));
    }

    [[nodiscard]] Snapshot snapshot() const
    {
        Snapshot copy{
            .pc = state.pc, .reservation = state.reservation, .bytes = m_bytes, .flags = m_flags};
        std::ranges::copy(state.x, copy.x.begin());
        return copy;
    }

    State state{};

private:
    std::vector<std::uint8_t> m_bytes;
    std::vector<std::uint8_t> m_flags;
};

/// Runs @p operation, which must fault with @p code and @p address and change nothing but making
/// @p dirty_pages dirty.
inline void expect_fault(Guest& guest,
                         const Operation& operation,
                         ErrorCode code,
                         std::uint64_t address,
                         const std::vector<std::uint64_t>& dirty_pages = {})
{
    Snapshot expected = guest.snapshot();
    for (const std::uint64_t page : dirty_pages)
        expected.flags[page] |= page_flag::dirty;
    EXPECT_EQ(guest.run(operation), Outcome::fault);
    EXPECT_EQ(guest.state.fault.code, code);
    EXPECT_EQ(guest.state.fault.address, address);
    EXPECT_TRUE(guest.snapshot() == expected) << "a fault changed more than dirty flags";
}

/// A computing instruction and what it should compute.
struct Computation
{
    Opcode opcode;
    std::uint64_t (*expected)(std::uint64_t a, std::uint64_t b);
};

/// Shows @p computation in the messages and names of tests.
inline std::ostream& operator<<(std::ostream& out, const Computation& computation)
{
    return out << isa::traits(computation.opcode).mnemonic;
}

/// The mnemonic of @p opcode as the name of a test: with underscores for dots.
inline std::string test_name(Opcode opcode)
{
    std::string name{isa::traits(opcode).mnemonic};
    std::ranges::replace(name, '.', '_');
    return name;
}

/// The name of a test of one computation.
inline std::string computation_name(const ::testing::TestParamInfo<Computation>& info)
{
    return test_name(info.param.opcode);
}

/// Executes @p computation with rs1 = @p a and, as its format says, rs2 or the immediate = @p b,
/// and compares rd with the expectation and all else with what it was.
inline void check_computation(Guest& guest,
                              const Computation& computation,
                              std::uint64_t a,
                              std::uint64_t b)
{
    guest.state.pc = Guest::start;
    guest.state.x[5] = Guest::marker(5);
    guest.state.x[6] = a;
    Operation operation{.opcode = computation.opcode, .length = 4, .parts = 1, .rd = 5, .rs1 = 6};
    if (isa::traits(computation.opcode).format == isa::Format::reg) {
        guest.state.x[7] = b;
        operation.rs2 = 7;
    } else {
        operation.imm = static_cast<std::int32_t>(b);
    }
    Snapshot expected = guest.snapshot();
    expected.x[5] = computation.expected(a, b);
    expected.pc += 4;
    ASSERT_EQ(guest.run(operation), Outcome::next);
    ASSERT_EQ(guest.state.x[5], expected.x[5])
        << isa::traits(computation.opcode).mnemonic << std::hex << " of 0x" << a << " and 0x" << b
        << ", seed 0x" << seed;
    ASSERT_TRUE(guest.snapshot() == expected) << "more than rd and pc changed";
}

/// Checks @p computation, of format reg, on all value pairs.
inline void check_register_form(const Computation& computation)
{
    Guest guest{0};
    for_value_pairs(
        [&](std::uint64_t a, std::uint64_t b) { check_computation(guest, computation, a, b); });
}

/// Checks @p computation on all edge values and random ones with each of @p immediates.
inline void check_immediate_form(const Computation& computation,
                                 const std::vector<std::int32_t>& immediates)
{
    Guest guest{0};
    Values values;
    for (const std::int32_t imm : immediates) {
        for (const std::uint64_t a : edge_values)
            check_computation(guest, computation, a, static_cast<std::uint64_t>(imm));
        for (int i = 0; i < 50; ++i)
            check_computation(guest, computation, values.next(), static_cast<std::uint64_t>(imm));
    }
}

/// The numbers from 0 to @p end - 1.
[[nodiscard]] inline std::vector<std::int32_t> numbers_below(std::int32_t end)
{
    std::vector<std::int32_t> numbers;
    for (std::int32_t i = 0; i < end; ++i)
        numbers.push_back(i);
    return numbers;
}

/// Bits @p low to @p low + @p count - 1 of @p value.
[[nodiscard]] constexpr std::uint64_t field(std::uint64_t value, unsigned low, unsigned count)
{
    std::uint64_t result = 0;
    for (unsigned i = 0; i < count; ++i) {
        if ((value >> (low + i)) % 2 == 1)
            result += std::uint64_t{1} << i;
    }
    return result;
}

/// The low @p width bits of @p value with their top bit copied upwards, by bit arithmetic.
[[nodiscard]] constexpr std::uint64_t signed_field(std::uint64_t value, unsigned width)
{
    const std::uint64_t low = field(value, 0, width);
    const bool negative = (low >> (width - 1)) == 1;
    return negative && width < 64 ? low - (std::uint64_t{1} << width) : low;
}
}  // namespace mopvm::semantics::test
