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

inline constexpr auto operands_of = [] {
    std::array<Operands, unit_count> table{};
    for (std::size_t i = 0; i < unit_count; ++i)
        table[i] = operands(shape(static_cast<Unit>(i)));
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
    std::uint8_t base =
        0;  ///< How far back is the load, for stores the store, before, if it has the same base.

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
    static constexpr std::uint32_t never = 0;

    std::uint32_t m_number = 1'000;  ///< Of the next unit.
    /// Which unit computed the register, if its result is still in a host register.
    std::array<std::uint32_t, isa::register_count + 1> m_producers{};
    /// The last load or the last store.
    struct Access
    {
        std::uint32_t number = never;
        std::uint8_t base = discard;  ///< Unless it was written since.
    };
    void write(std::uint8_t reg, std::uint32_t producer) noexcept;

    Access m_load;
    Access m_store;
};

/// Notes who computes @p reg from here on.
inline void RelationTracker::write(std::uint8_t reg, std::uint32_t producer) noexcept
{
    m_producers[reg] = producer;
    for (Access* access : {&m_load, &m_store}) {
        if (access->base == reg)
            access->base = discard;
    }
}

inline Relation RelationTracker::next(const Encoded& encoded) noexcept
{
    const detail::Operands operands = detail::operands_of[index(encoded.unit)];
    const Cell& cell = encoded.cells[0];
    Relation relation{.unit = encoded.unit};
    const auto distance_to = [&](std::uint8_t reg) {
        const std::uint32_t distance = m_number - m_producers[reg];
        return distance <= max_distance ? static_cast<std::uint8_t>(distance) : std::uint8_t{0};
    };
    if (operands.first)
        relation.first = distance_to(cell.rs1);
    if (operands.second)
        relation.second = distance_to(operands.is_store ? cell.rd : cell.rs2);
    if (operands.is_access) {
        Access& access = operands.is_store ? m_store : m_load;
        const std::uint32_t distance = m_number - access.number;
        if (cell.rs1 == access.base && distance < max_sequence_length)
            relation.base = static_cast<std::uint8_t>(distance);
        access = {.number = m_number, .base = cell.rs1};
    }

    if (operands.forgets) {
        m_producers.fill(never);
        m_load = m_store = {};
    } else if (operands.has_two) {
        write(cell.rd, never);
        write(cell.r3, m_number);
    } else if (encoded.result != discard) {
        relation.over = distance_to(encoded.result);
        write(encoded.result, m_number);
    }
    m_producers[discard] = never;
    ++m_number;
    return relation;
}
}  // namespace mopvm::asm_x64
