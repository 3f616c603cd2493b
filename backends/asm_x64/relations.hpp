// SPDX-License-Identifier: MIT
/// @file
/// What units have to do with those before them. Inline, as every unit of every block passes here.
#pragma once

#include "asm_x64/cell.hpp"

#include <array>
#include <cstddef>
#include <cstdint>

namespace mopvm::asm_x64
{
namespace detail
{
/// Which registers a unit reads and writes, and what happens to results in host registers.
struct Operands
{
    bool first = false;      ///< rs1 is a source that may be in a host register.
    bool second = false;     ///< The same of rs2, or of the value of a store.
    bool is_access = false;  ///< rs1 is the base of an address.
    bool is_store = false;   ///< The value is in the place of rd.
    bool has_two = false;    ///< Both rd and r3 are written; the result is that of r3.
    bool forgets = false;    ///< Its code uses the host registers that hold earlier results.
};

constexpr Operands operands(Shape shape) noexcept
{
    switch (shape) {
    case Shape::load:
    case Shape::load_signed:
        return {.first = true, .is_access = true};
    case Shape::store:
        return {.first = true, .second = true, .is_access = true, .is_store = true};
    case Shape::move:
    case Shape::immediate:
    case Shape::immediate_set:
    case Shape::shift_immediate:
    case Shape::shift_word:
    case Shape::bit_immediate:
    case Shape::bit_extract_immediate:
    case Shape::leading_zeros:
    case Shape::trailing_zeros:
    case Shape::count_ones:
    case Shape::extend_signed:
    case Shape::extend:
    case Shape::reverse_bytes:
    case Shape::branch_zero:
    case Shape::jump_indirect:
    case Shape::call_indirect:
        return {.first = true};
    case Shape::commutative:
    case Shape::ordered:
    case Shape::inverted:
    case Shape::shift:
    case Shape::set:
    case Shape::select:
    case Shape::scaled_add:
    case Shape::bit:
    case Shape::bit_extract:
    case Shape::multiply_high:
    case Shape::divide_signed:
    case Shape::divide_unsigned:
    case Shape::branch:
        return {.first = true, .second = true};
    case Shape::wide_multiply:
    case Shape::wide_divide_signed:
    case Shape::wide_divide_unsigned:
    case Shape::sum_with_carry:
    case Shape::difference_with_borrow:
        return {.first = true, .second = true, .has_two = true};
    case Shape::constant:
    case Shape::small_constant:
    case Shape::jump:
        return {};
    default:
        return {.forgets = true};
    }
}

/// The same in one byte, which is what every unit of every block looks at.
namespace operand_bit
{
inline constexpr unsigned first = 1;
inline constexpr unsigned second = 2;
inline constexpr unsigned access = 4;
inline constexpr unsigned store = 8;
inline constexpr unsigned rare = 16;  ///< `has_two` or `forgets`.
}  // namespace operand_bit

inline constexpr auto operand_bits = [] {
    std::array<std::uint8_t, unit_count> table{};
    for (std::size_t i = 0; i < unit_count; ++i) {
        const Operands of = operands(shape(static_cast<Unit>(i)));
        table[i] = static_cast<std::uint8_t>(
            (of.first ? operand_bit::first : 0) | (of.second ? operand_bit::second : 0) |
            (of.is_access ? operand_bit::access : 0) | (of.is_store ? operand_bit::store : 0) |
            (of.has_two || of.forgets ? operand_bit::rare : 0));
    }
    return table;
}();
}  // namespace detail

/// What one unit of a block has to do with those before it; distances as in `Token`, but over the
/// whole block.
struct Relation
{
    Unit unit = Unit::invalid;
    std::uint8_t first = 0;
    std::uint8_t second = 0;
    std::uint8_t over = 0;
    /// How far back is the load, for stores the store, before, if it has the same base.
    std::uint8_t base = 0;

    /// The token of this unit as the @p position-th of a sequence, counted from 0.
    [[nodiscard]] Token token(std::size_t position) const noexcept
    {
        const auto inside = [&](std::uint8_t distance) {
            return distance <= position ? distance : std::uint8_t{0};
        };
        Token made{
            .unit = unit, .first = inside(first), .second = inside(second), .over = inside(over)};
        if (made.first == 0 && inside(base) != 0)
            made.first = Token::same_base;
        return made;
    }
};

/// Finds the relations of units that follow one another.
class RelationTracker
{
public:
    /// The relations of the next unit.
    [[nodiscard]] Relation next(const Encoded& encoded) noexcept;

private:
    /// Far from every number.
    static constexpr std::uint8_t never = 0;
    static constexpr std::uint8_t first_number = 128;

    /// The last load or the last store.
    struct Access
    {
        std::uint8_t number = never;
        std::uint8_t base = discard;  ///< Unless it was written since.
    };

    [[nodiscard]] std::uint8_t distance_to(std::uint8_t reg) const noexcept
    {
        const auto distance = static_cast<std::uint8_t>(m_number - m_producers[reg]);
        return distance <= max_distance ? distance : std::uint8_t{0};
    }
    void write(std::uint8_t reg, std::uint8_t producer) noexcept
    {
        m_producers[reg] = producer;
        for (Access& access : m_accesses)
            access.base = access.base == reg ? discard : access.base;
    }
    void note_rare(const Encoded& encoded) noexcept;

    std::uint8_t m_number = first_number;  ///< Of the next unit; a block has fewer than 100.
    /// Which unit computed the register, if its result is still in a host register.
    std::array<std::uint8_t, isa::register_count + 1> m_producers{};
    std::array<Access, 2> m_accesses{};  ///< The last load, the last store.
};

inline Relation RelationTracker::next(const Encoded& encoded) noexcept
{
    namespace bit = detail::operand_bit;
    const unsigned bits = detail::operand_bits[index(encoded.unit)];
    const Cell& cell = encoded.cells[0];
    const bool is_store = (bits & bit::store) != 0;
    // Nobody computes the register that discards.
    const std::uint8_t first = (bits & bit::first) != 0 ? cell.rs1 : discard;
    const std::uint8_t second =
        (bits & bit::second) == 0 ? discard : (is_store ? cell.rd : cell.rs2);
    Relation relation{
        .unit = encoded.unit, .first = distance_to(first), .second = distance_to(second)};
    if ((bits & bit::access) != 0) {
        Access& access = m_accesses[is_store ? 1 : 0];
        const auto distance = static_cast<std::uint8_t>(m_number - access.number);
        if (cell.rs1 == access.base && distance < max_sequence_length)
            relation.base = distance;
        access = {.number = m_number, .base = cell.rs1};
    }
    if ((bits & bit::rare) != 0) [[unlikely]] {
        note_rare(encoded);
    } else {
        relation.over = distance_to(encoded.result);
        write(encoded.result, m_number);
    }
    m_producers[discard] = never;
    ++m_number;
    return relation;
}

/// What units do that write two registers, or that use the host registers of earlier results.
inline void RelationTracker::note_rare(const Encoded& encoded) noexcept
{
    if (detail::operands(shape(encoded.unit)).has_two) {
        write(encoded.cells[0].rd, never);
        write(encoded.cells[0].r3, m_number);
    } else {
        m_producers.fill(never);
        m_accesses.fill({});
    }
}
}  // namespace mopvm::asm_x64
