// SPDX-License-Identifier: MIT
/// @file
/// Cells, what blocks are made of for emitted code.
#pragma once

#include "asm_x64/unit.hpp"
#include "isa/instruction.hpp"
#include "isa/registers.hpp"

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace mopvm::asm_x64
{
/// Register number for results that are discarded: the slot behind x31 in `State`.
inline constexpr std::uint8_t discard = isa::register_count;

/// Eight bytes: where the code for the unit is, below 4 GiB, and the unit's operands. What more a
/// unit needs, see `cells`, is in the cells behind it.
struct Cell
{
    std::uint32_t handler;
    std::uint8_t rd;  ///< The result; for stores the value.
    std::uint8_t rs1;
    std::uint8_t rs2;  ///< Or the low byte of a 16-bit immediate.
    std::uint8_t r3;   ///< Or its high byte.

    void set_immediate(std::int16_t imm) noexcept { std::memcpy(&rs2, &imm, sizeof(imm)); }

    [[nodiscard]] static constexpr Cell of(std::uint64_t payload) noexcept
    {
        return std::bit_cast<Cell>(payload);
    }
    [[nodiscard]] std::uint64_t payload() const noexcept
    {
        return std::bit_cast<std::uint64_t>(*this);
    }
};
static_assert(sizeof(Cell) == 8);

/// Offsets in bytes, for emitted code.
namespace cell_offset
{
inline constexpr std::int32_t rd = offsetof(Cell, rd);
inline constexpr std::int32_t rs1 = offsetof(Cell, rs1);
inline constexpr std::int32_t rs2 = offsetof(Cell, rs2);
inline constexpr std::int32_t r3 = offsetof(Cell, r3);
inline constexpr std::int32_t immediate = offsetof(Cell, rs2);
inline constexpr std::int32_t payload = sizeof(Cell);  ///< Of the first cell behind.
}  // namespace cell_offset

/// The units of one operation, as cells whose handlers are still to be chosen.
struct Encoded
{
    static constexpr std::size_t max_cells = 3;

    /// Guest address that the link at the end of the unit, if it has one, leads to.
    std::uint64_t target;
    Unit unit;                ///< `invalid` when there is nothing to do.
    std::uint8_t cell_count;  ///< Those of a link included, which are not in `cells`.
    /// The register whose value the unit leaves in a host register; `discard` if none.
    std::uint8_t result;
    Cell cells[max_cells];
};

/// Encodes @p operation at address @p pc. Cells of links are left out.
[[nodiscard]] Encoded encode(const isa::Operation& operation, std::uint64_t pc) noexcept;

/// The unit that goes on at @p pc.
[[nodiscard]] Encoded encode_go_on(std::uint64_t pc) noexcept;
}  // namespace mopvm::asm_x64
