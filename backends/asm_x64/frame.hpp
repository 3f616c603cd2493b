// SPDX-License-Identifier: MIT
/// @file
/// What emitted code and the engine tell each other, with the offsets that emitted code uses.
#pragma once

#include "asm_x64/cell.hpp"
#include "code/code_view.hpp"
#include "semantics/state.hpp"
#include "support/noise.hpp"

#include <mopvm/stats.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace mopvm::asm_x64
{
/// Why emitted code came back.
enum class Leave : std::uint32_t
{
    entry,  ///< At a block whose cost is above what is left, or a pause is wanted: nothing of it
            ///< has happened.
    link,   ///< At an unresolved link; the block without operations at its end is at `Frame::ip`.
    indirect,       ///< A computed jump to `Frame::pc`, which has not been looked up before.
    indirect_call,  ///< The same of a call whose inline cache is at `Frame::ip`.
    fault,          ///< The unit at `Frame::ip` cannot be executed; nothing of it has happened.
    ecall,
    ebreak,
};

/// One stay in emitted code.
struct Frame
{
    semantics::State* state = nullptr;
    std::uint8_t* bytes = nullptr;
    std::uint8_t* flags = nullptr;
    /// Accesses of up to eight bytes at or below this address need no other check of bounds.
    std::uint64_t safe_address = 0;
    const void* pause_requested = nullptr;
    code::TargetCache::Entry* targets = nullptr;
    Stats* stats = nullptr;

    // Called by emitted code.
    bool (*check_load)(const Frame& frame, std::uint64_t address, std::uint64_t length) noexcept;
    bool (*check_store)(Frame& frame, std::uint64_t address, std::uint64_t length) noexcept;
    bool (*execute)(Frame& frame, const isa::Operation& operation) noexcept;
    void (*count)(Frame& frame, const Cell* summary) noexcept;

    /// Cycles that may still be charged; those of the current block are charged already.
    std::uint64_t cycles_left = 0;
    /// In: where to begin, the body of a block. Out: see `Leave`.
    const Cell* ip = support::spare_pointer<const Cell>();
    /// Out, of `indirect`, `ecall` and `ebreak`: where to go on.
    std::uint64_t pc = support::spare_word;
};
static_assert(std::is_standard_layout_v<Frame>);

/// A frame for @p state, all of which it refers to; where to begin is left open, and the cycles
/// that `State` leaves may be charged. @p stats is null when nothing is counted.
[[nodiscard]] Frame make_frame(semantics::State& state,
                               const std::atomic<bool>& pause_requested,
                               code::TargetCache& targets,
                               Stats* stats) noexcept;

/// Offsets in `Frame`.
namespace frame_offset
{
inline constexpr std::int32_t state = offsetof(Frame, state);
inline constexpr std::int32_t bytes = offsetof(Frame, bytes);
inline constexpr std::int32_t flags = offsetof(Frame, flags);
inline constexpr std::int32_t safe_address = offsetof(Frame, safe_address);
inline constexpr std::int32_t pause_requested = offsetof(Frame, pause_requested);
inline constexpr std::int32_t targets = offsetof(Frame, targets);
inline constexpr std::int32_t check_load = offsetof(Frame, check_load);
inline constexpr std::int32_t check_store = offsetof(Frame, check_store);
inline constexpr std::int32_t execute = offsetof(Frame, execute);
inline constexpr std::int32_t count = offsetof(Frame, count);
inline constexpr std::int32_t cycles_left = offsetof(Frame, cycles_left);
inline constexpr std::int32_t ip = offsetof(Frame, ip);
inline constexpr std::int32_t pc = offsetof(Frame, pc);
}  // namespace frame_offset

/// What emitted code keeps on the stack.
namespace stack_offset
{
inline constexpr std::int32_t frame = 0;
inline constexpr std::int32_t safe_address = 8;
inline constexpr std::int32_t targets = 16;
inline constexpr std::int32_t size = 24;
}  // namespace stack_offset

/// The state's registers, seen from the middle so that all and the discarded one are near.
namespace state_offset
{
inline constexpr std::int32_t middle = 16 * sizeof(std::uint64_t);
static_assert(offsetof(semantics::State, x) == 0);
static_assert(offsetof(semantics::State, discarded) == discard * sizeof(std::uint64_t));
}  // namespace state_offset

/// The head of a block, seen from its body.
namespace block_offset
{
inline constexpr std::int32_t size = sizeof(code::Block);
inline constexpr std::int32_t pc = std::int32_t{offsetof(code::Block, pc)} - size;
inline constexpr std::int32_t cost = std::int32_t{offsetof(code::Block, cost)} - size;
}  // namespace block_offset
}  // namespace mopvm::asm_x64
