// SPDX-License-Identifier: MIT
/// @file
/// What units have to do with those before them. Inline, as every unit of every block passes here.
#pragma once

#include "asm_x64/cell.hpp"
#include "asm_x64/sequences.hpp"

#include <array>
#include <bit>
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

/// The same as what every unit of every block is looked up in.
struct OperandPlaces
{
    /// In a register number: of registers that nobody computes.
    static constexpr std::uint8_t none = discard;

    std::uint8_t no_first = none;
    std::uint8_t no_second = none;
    std::uint8_t second_shift = 0;  ///< Where in the cell the second source is.
    std::uint8_t access = 2;        ///< 0: a load, 1: a store, 2: neither.
    std::uint16_t base_mask = 0;    ///< All bits for loads and stores.
    bool has_two = false;           ///< As above.
    bool is_rare = false;           ///< `has_two` or `forgets`.
};

inline constexpr auto operand_places = [] {
    std::array<OperandPlaces, unit_count> table{};
    for (std::size_t i = 0; i < unit_count; ++i) {
        const Operands of = operands(shape(static_cast<Unit>(i)));
        table[i] = {.no_first = of.first ? std::uint8_t{0} : OperandPlaces::none,
                    .no_second = of.second ? std::uint8_t{0} : OperandPlaces::none,
                    .second_shift = static_cast<std::uint8_t>(
                        8 * (of.is_store ? cell_offset::rd : cell_offset::rs2)),
                    .access = static_cast<std::uint8_t>(of.is_access ? of.is_store : 2),
                    .base_mask = static_cast<std::uint16_t>(of.is_access ? 0xffff : 0),
                    .has_two = of.has_two,
                    .is_rare = of.has_two || of.forgets};
    }
    return table;
}();

/// By distance modulo 256: a bit for each that matters, the lowest for 1.
template <typename Bits>
constexpr std::array<Bits, 256> bits_of_distances(unsigned lowest, std::size_t most) noexcept
{
    std::array<Bits, 256> table{};
    for (std::size_t distance = 1; distance <= most; ++distance)
        table[distance] = static_cast<Bits>(lowest << (distance - 1));
    return table;
}
}  // namespace detail

/// What one unit of a block has to do with those before it, over the whole block.
class Relation
{
public:
    /// How many units back; 0: nowhere that matters.
    struct Distances
    {
        std::uint8_t first = 0;   ///< Its first source was computed; at most `max_distance`.
        std::uint8_t second = 0;  ///< The same of its second source.
        std::uint8_t over = 0;    ///< The same of what its result replaces.
        /// The load, for stores the store, before was, if it has the same base; less than
        /// `max_sequence_length`.
        std::uint8_t base = 0;
    };

    /// Of no unit; left open, as arrays of them are filled anyway.
    Relation() noexcept = default;

    Relation(Unit unit, const Distances& distances) noexcept
        : m_unit{unit},
          m_bits{static_cast<std::uint16_t>(token_bit::at(token_bit::first, distances.first) |
                                            token_bit::at(token_bit::second, distances.second) |
                                            token_bit::at(token_bit::over, distances.over) |
                                            token_bit::at(base, distances.base))}
    {}

    [[nodiscard]] Unit unit() const noexcept { return m_unit; }

    [[nodiscard]] Distances distances() const noexcept
    {
        return {.first = token_bit::distance(token_bit::first, m_bits & token_bit::all_first),
                .second = token_bit::distance(token_bit::second, m_bits & token_bit::all_second),
                .over = token_bit::distance(token_bit::over, m_bits & token_bit::all_over),
                .base = token_bit::distance(base, m_bits & all_base)};
    }

    /// What the token of this unit says as the @p position-th of a sequence, counted from 0.
    [[nodiscard]] TokenBits bits(std::size_t position) const noexcept
    {
        const unsigned inside = m_bits & inside_of[position];
        const unsigned same_base =
            unsigned{(inside & all_base) != 0} & unsigned{(inside & token_bit::all_first) == 0};
        return (inside & ~all_base) | same_base * token_bit::same_base;
    }

    /// The token itself.
    [[nodiscard]] Token token(std::size_t position) const noexcept
    {
        return token_of(m_unit, bits(position));
    }

private:
    friend class RelationTracker;

    Relation(Unit unit, unsigned bits) noexcept
        : m_unit{unit}, m_bits{static_cast<std::uint16_t>(bits)}
    {}

    /// In place of `same_base`, how far back that is.
    static constexpr unsigned base = token_bit::same_base;
    static constexpr unsigned all_base = base * ((1U << (max_sequence_length - 1)) - 1);

    /// By position, also behind the longest: the bits of distances that do not reach out of the
    /// sequence.
    static constexpr auto inside_of = [] {
        std::array<std::uint16_t, max_sequence_length + 1> table{};
        for (std::size_t position = 0; position < table.size(); ++position) {
            const unsigned near = (1U << position) - 1;
            table[position] = static_cast<std::uint16_t>(
                (token_bit::first * near & token_bit::all_first) |
                (token_bit::second * near & token_bit::all_second) |
                (token_bit::over * near & token_bit::all_over) | base * near);
        }
        return table;
    }();

    Unit m_unit;
    std::uint16_t m_bits;
};
static_assert(sizeof(Relation) == 4);

/// Finds the relations of units that follow one another.
class RelationTracker
{
public:
    /// The relations of the next unit.
    [[nodiscard]] Relation next(const Encoded& encoded) noexcept
    {
        return next(encoded.unit, encoded.cells[0], encoded.result);
    }
    /// The same of a @p unit whose first cell is @p cell and which leaves the value of the register
    /// @p result, `discard` if none, in a host register.
    [[nodiscard]] Relation next(Unit unit, const Cell& cell, std::uint8_t result) noexcept;

private:
    /// Far from every number.
    static constexpr std::uint8_t never = 0;
    static constexpr std::uint8_t first_number = 128;
    /// Register numbers, and above them those of nobody's.
    static constexpr std::size_t places = 2 * isa::register_count;

    /// The last load or the last store.
    struct Access
    {
        std::uint8_t number = never;
        std::uint8_t base = discard;
    };

    static constexpr auto near_bits = detail::bits_of_distances<std::uint8_t>(1, max_distance);
    static constexpr auto base_bits =
        detail::bits_of_distances<std::uint16_t>(Relation::base, max_sequence_length - 1);

    /// How far back the register in @p place was computed: the lowest bit, if in the unit before.
    [[nodiscard]] unsigned distance_to(unsigned place) const noexcept
    {
        return near_bits[static_cast<std::uint8_t>(m_number - m_producers[place])];
    }
    void write(std::uint8_t reg, std::uint8_t producer) noexcept
    {
        m_producers[reg] = producer;
        m_written[reg] = m_number;
    }
    void note_rare(const detail::OperandPlaces& of, const Cell& cell) noexcept;

    std::uint8_t m_number = first_number;  ///< Of the next unit; a block has fewer than 100.
    std::array<Access, 3> m_accesses{};    ///< The last load, the last store, what is neither.
    /// Which unit computed the register, if its result is still in a host register.
    std::array<std::uint8_t, places> m_producers{};
    /// Which unit wrote the register last.
    std::array<std::uint8_t, places> m_written{};
};

// Nothing here is decided by a branch that cannot be predicted.
inline Relation RelationTracker::next(Unit unit, const Cell& cell, std::uint8_t result) noexcept
{
    const detail::OperandPlaces& of = detail::operand_places[index(unit)];
    const std::uint64_t payload = cell.payload();
    unsigned bits = token_bit::first * distance_to(cell.rs1 | of.no_first) |
                    token_bit::second *
                        distance_to((payload >> of.second_shift & (places / 2 - 1)) | of.no_second);

    Access& access = m_accesses[of.access];
    const auto distance = static_cast<std::uint8_t>(m_number - access.number);
    // The base has the same value if nobody wrote it at or behind the access before.
    const auto since_written = static_cast<std::uint8_t>(m_number - m_written[cell.rs1]);
    const unsigned same_base =
        unsigned{access.base == cell.rs1} & unsigned{since_written > distance};
    bits |= base_bits[distance] & of.base_mask & (0U - same_base);
    access = {.number = m_number, .base = cell.rs1};

    if (of.is_rare) [[unlikely]] {
        note_rare(of, cell);
    } else {
        bits |= token_bit::over * distance_to(result);
        write(result, m_number);
    }
    m_producers[discard] = never;
    ++m_number;
    return {unit, bits};
}

/// What units do that write two registers, or that use the host registers of earlier results.
inline void RelationTracker::note_rare(const detail::OperandPlaces& of, const Cell& cell) noexcept
{
    if (of.has_two) {
        write(cell.rd, never);
        write(cell.r3, m_number);
    } else {
        m_producers.fill(never);
        m_accesses.fill({});
    }
}
}  // namespace mopvm::asm_x64
