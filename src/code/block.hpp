// SPDX-License-Identifier: MIT
/// @file
/// Blocks: operations that execute one after another, entered only at the first, written down in
/// the form of the engine that runs them.
#pragma once

#include "isa/instruction.hpp"

#include <cstddef>
#include <cstdint>
#include <span>

namespace mopvm::code
{
class CodeImage;

/// Operations of a block at most. Block lengths are free: they cannot be observed.
inline constexpr std::uint32_t max_block_operations = 64;

/// The head of a block; the body, in the form of one engine, follows it in memory. All operations
/// begin in one page, and only the last may transfer control. Immutable but for links in the body,
/// which go from unresolved to resolved.
struct alignas(8) Block
{
    std::uint32_t pc = 0;  ///< Address of the first operation, an even one.
    std::uint16_t operations = 0;
    /// Look-ahead was refused at the end of the page: once the next page is executable, another
    /// block belongs here. Nothing may lead here but a look-up.
    bool provisional = false;
    bool own = false;        ///< Belongs to one machine: nothing shared may lead here.
    std::uint64_t cost = 0;  ///< Cycles of all operations together.

    [[nodiscard]] const std::byte* body() const noexcept
    {
        return reinterpret_cast<const std::byte*>(this + 1);
    }

    /// The block whose body begins at @p body.
    [[nodiscard]] static const Block* of_body(const void* body) noexcept
    {
        return static_cast<const Block*>(body) - 1;
    }

    /// True when what is in @p source may lead to @p target without a look-up.
    [[nodiscard]] static bool may_link(const Block& source, const Block& target) noexcept
    {
        return !target.provisional && (source.own || !target.own);
    }
};
static_assert(sizeof(Block) == 16);

/// What a block is made of.
struct BlockSource
{
    const Block& head;
    std::span<const isa::Operation> operations;  ///< At least one.
    /// The block of the following address is directly behind this one: an untaken branch at the
    /// end falls into it.
    bool next_follows = false;
};

/// How an engine writes down the blocks that it runs.
struct BlockFormat
{
    /// True when blocks behind untaken branches are to be laid out directly behind them.
    bool follows_branches = false;
    /// Writes the body to @p to, where it stays; blocks that @p image holds already may be linked.
    /// @return its bytes: a multiple of 8, at most `max_operation_bytes` for each operation and
    /// `max_body_overhead`.
    std::size_t (*write_body)(std::byte* to,
                              const BlockSource& source,
                              const CodeImage& image) noexcept;
};

/// Bounds of what `BlockFormat::write_body` may take.
inline constexpr std::size_t max_operation_bytes = 24;
inline constexpr std::size_t max_body_overhead = 160;

/// The plain form: the operations as they are.
extern const BlockFormat operation_format;

/// The operations of @p block, which is of `operation_format`.
[[nodiscard]] inline std::span<const isa::Operation> operations(const Block& block) noexcept
{
    return {reinterpret_cast<const isa::Operation*>(block.body()), block.operations};
}
}  // namespace mopvm::code
