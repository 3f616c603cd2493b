// SPDX-License-Identifier: MIT
// What units have to do with those before them.

#include "asm_x64/cell.hpp"

#include <array>

namespace mopvm::asm_x64
{
namespace
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

constexpr auto operands_of = [] {
    std::array<Operands, unit_count> table{};
    for (std::size_t i = 0; i < unit_count; ++i)
        table[i] = operands(shape(static_cast<Unit>(i)));
    return table;
}();
}  // namespace

/// Notes who computes @p reg from here on.
void RelationTracker::write(std::uint8_t reg, std::uint32_t producer) noexcept
{
    m_producers[reg] = producer;
    for (Access* access : {&m_load, &m_store}) {
        if (access->base == reg)
            access->base = discard;
    }
}

Relation RelationTracker::next(const Encoded& encoded) noexcept
{
    const Operands operands = operands_of[index(encoded.unit)];
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
