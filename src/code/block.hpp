// SPDX-License-Identifier: MIT
/// @file
/// A block: operations that execute one after another, entered only at the first.
#pragma once

#include "isa/instruction.hpp"

#include <cstdint>
#include <span>

namespace mopvm::code
{
/// Operations of a block at most. Block lengths are free: they cannot be observed.
inline constexpr std::uint32_t max_block_operations = 64;

/// Straight-line operations from one address on. All begin in one page; only the last may transfer
/// control. Immutable; the operations follow it in memory.
class alignas(isa::Operation) Block
{
public:
    explicit Block(std::uint32_t count) noexcept : m_count{count} {}
    Block(const Block&) = delete;
    Block& operator=(const Block&) = delete;
    ~Block() = default;

    /// Bytes that a block of @p count operations takes.
    [[nodiscard]] static constexpr std::size_t bytes(std::uint32_t count) noexcept
    {
        return sizeof(Block) + count * sizeof(isa::Operation);
    }

    /// The operations, at least one.
    [[nodiscard]] std::span<const isa::Operation> operations() const noexcept
    {
        return {reinterpret_cast<const isa::Operation*>(this + 1), m_count};
    }

private:
    std::uint32_t m_count;
};
}  // namespace mopvm::code
