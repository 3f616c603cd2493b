// SPDX-License-Identifier: MIT
/// @file
/// Blocks in the form of emitted code: cells.
#pragma once

#include "asm_x64/handlers.hpp"
#include "code/block.hpp"

#include <mopvm/stats.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace mopvm::asm_x64
{
/// What a counting block adds to `Stats`; the payload of the unit `count`.
struct CountSummary
{
    std::uint32_t operations = 0;
    std::uint32_t instructions = 0;
    std::array<std::uint8_t, fusion_rule_count> fused{};
};
static_assert(sizeof(CountSummary) == 3 * sizeof(Cell));
static_assert(code::max_block_operations <= 255);

/// Where inline caches point before they have seen a target: the body of a block at an odd address,
/// one for blocks that are shared and one for a machine's own.
[[nodiscard]] const Cell* no_block_body(bool own) noexcept;

/// The guest address of an unresolved link, whose block's body is at @p stub.
[[nodiscard]] std::uint64_t link_target(const Cell* stub) noexcept;

/// The cell that says where that link leads.
[[nodiscard]] const Cell* link_slot(const Cell* stub) noexcept;

/// Writes the cells of @p source, with the handlers of @p handlers, to @p to; they begin with a
/// `count` unit if @p counting. Links to blocks that @p image has are resolved.
/// @return their bytes.
std::size_t write_body(std::byte* to,
                       const code::BlockSource& source,
                       const code::CodeImage& image,
                       const Handlers& handlers,
                       bool counting) noexcept;

/// The same of @p units, of a block with @p head.
std::size_t write_units(std::byte* to,
                        std::span<const Encoded> units,
                        const code::Block& head,
                        const code::CodeImage& image,
                        const Handlers& handlers) noexcept;

/// Units of a block at most: one for each operation, and one that goes on behind them.
inline constexpr std::size_t max_units = code::max_block_operations + 1;
}  // namespace mopvm::asm_x64
