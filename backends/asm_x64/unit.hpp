// SPDX-License-Identifier: MIT
/// @file
/// Units, what emitted code does in one step, generated from units.inc.
#pragma once

#include "isa/opcode.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace mopvm::asm_x64
{
/// Beside one unit for each operation, with the operation's number, those of units.inc that
/// operations are simplified to.
enum class Unit : std::uint8_t
{
    invalid,
#define MOPVM_UNIT(id, shape, code, width) id,
#define MOPVM_EXTRA_UNIT(id, shape, code, width) id,
#include "asm_x64/units.inc"
};

/// How a unit's operands become its result; one emitting function for each.
enum class Shape : std::uint8_t
{
    nothing,  ///< No handler.
    constant,
    small_constant,
    move,
    commutative,
    ordered,
    inverted,
    shift,
    set,
    select,
    scaled_add,
    bit,
    bit_extract,
    immediate,
    immediate_set,
    shift_immediate,
    shift_word,
    bit_immediate,
    bit_extract_immediate,
    leading_zeros,
    trailing_zeros,
    count_ones,
    extend_signed,
    extend,
    reverse_bytes,
    multiply_high,
    multiply_high_mixed,
    divide_signed,
    divide_unsigned,
    wide_divide_signed,
    wide_divide_unsigned,
    load,
    load_signed,
    store,
    adc,
    sbb,
    wide_multiply,
    wide_multiply_mixed,
    sum_with_carry,
    difference_with_borrow,
    add3,
    branch,
    branch_zero,
    jump,
    call,
    jump_indirect,
    call_indirect,
    leave,
    unresolved,
    carryless,
    semantic,  ///< A call of the reference semantics.
    count,
};

namespace detail
{
struct NamedShape
{
    std::string_view name;
    Shape shape = Shape::nothing;
};
inline constexpr auto unit_table = std::to_array<NamedShape>({
    {"invalid", Shape::nothing},
#define MOPVM_UNIT(id, shape, code, width) {#id, Shape::shape},
#define MOPVM_EXTRA_UNIT(id, shape, code, width) {#id, Shape::shape},
#include "asm_x64/units.inc"
});

consteval bool units_follow_opcodes()
{
    constexpr auto ids = std::to_array<std::string_view>({
        "invalid",
#define MOPVM_INSTRUCTION(id, mnemonic, format, pattern, extension, cost, flow, versions) #id,
#define MOPVM_FUSED(id, parts, cost, flow) #id,
#include "isa/opcodes.inc"
    });
    for (std::size_t i = 0; i < ids.size(); ++i) {
        if (ids[i] != unit_table[i].name)
            return false;
    }
    return true;
}
static_assert(units_follow_opcodes(), "units.inc has one row for each operation, in order");
}  // namespace detail

inline constexpr std::size_t unit_count = detail::unit_table.size();
static_assert(unit_count <= 256);

/// The number of @p unit, as an index into tables.
[[nodiscard]] constexpr std::size_t index(Unit unit) noexcept
{
    return static_cast<std::size_t>(unit);
}

/// The unit of @p opcode before any simplification.
[[nodiscard]] constexpr Unit unit_of(isa::Opcode opcode) noexcept
{
    return static_cast<Unit>(opcode);
}

[[nodiscard]] constexpr Shape shape(Unit unit) noexcept
{
    return detail::unit_table[index(unit)].shape;
}

/// False when operations are never encoded as @p unit.
[[nodiscard]] constexpr bool has_handler(Unit unit) noexcept
{
    return shape(unit) != Shape::nothing;
}

/// As in units.inc.
[[nodiscard]] constexpr std::string_view name(Unit unit) noexcept
{
    return detail::unit_table[index(unit)].name;
}

/// Cells of a link: where it leads, and the block without operations that it leads to until it is
/// resolved, which is a head, a cell and the guest address.
inline constexpr std::size_t link_cells = 5;

/// Cells that a unit of @p shape takes: one for its handler and operands, more for constants,
/// links, and what does not fit.
[[nodiscard]] constexpr std::size_t cells(Shape shape) noexcept
{
    switch (shape) {
    case Shape::constant:
    case Shape::add3:
    case Shape::leave:
        return 2;
    case Shape::call_indirect:
    case Shape::carryless:
    case Shape::semantic:
        return 3;
    case Shape::count:
        return 4;
    case Shape::branch:
    case Shape::branch_zero:
    case Shape::jump:
        return 1 + link_cells;
    case Shape::call:
        return 2 + link_cells;
    default:
        return 1;
    }
}

/// True when a unit of @p shape goes elsewhere than to the cell behind it.
[[nodiscard]] constexpr bool transfers(Shape shape) noexcept
{
    switch (shape) {
    case Shape::branch:
    case Shape::branch_zero:
    case Shape::jump:
    case Shape::call:
    case Shape::jump_indirect:
    case Shape::call_indirect:
    case Shape::leave:
    case Shape::unresolved:
        return true;
    default:
        return false;
    }
}

/// Units of a sequence at most.
inline constexpr std::size_t max_sequence_length = 8;

/// Units further apart than this do not know of each other's results.
inline constexpr std::uint8_t max_distance = 3;

/// A unit as a member of a sequence, and what it has to do with the members before it. Distances
/// count members, 1 being the one before.
struct Token
{
    /// Of `first`, for loads and stores: the address is based on the same register as that of the
    /// load, for stores the store, before, and the register has not been written in between.
    static constexpr std::uint8_t same_base = max_distance + 1;

    Unit unit = Unit::invalid;
    std::uint8_t first = 0;   ///< How far back rs1 was computed; 0: not in this sequence.
    std::uint8_t second = 0;  ///< The same of rs2, or of the value of a store.
    std::uint8_t over = 0;    ///< How far back is the result that this one's result replaces.

    friend constexpr bool operator==(const Token&, const Token&) = default;
};
}  // namespace mopvm::asm_x64
