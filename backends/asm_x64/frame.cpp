// SPDX-License-Identifier: MIT
// What emitted code asks of C++.

#include "asm_x64/frame.hpp"

#include "asm_x64/block_writer.hpp"
#include "semantics/execute.hpp"
#include "support/emitted_reads.hpp"

#include <cstring>

namespace mopvm::asm_x64
{
namespace
{
bool check_load(const Frame& frame, std::uint64_t address, std::uint64_t length) noexcept
{
    const memory::Space& space = frame.state->memory;
    memory::Fault ignored;
    return memory::Space::in_bounds(address, length, space.load_end, space.size, ignored);
}

bool check_store(Frame& frame, std::uint64_t address, std::uint64_t length) noexcept
{
    memory::Fault ignored;
    return frame.state->memory.prepare_store(address, length, ignored);
}

bool execute(Frame& frame, const isa::Operation& operation) noexcept
{
    support::found_by_emitted_code();
    return semantics::execute(*frame.state, operation) == semantics::Outcome::next;
}

void count(Frame& frame, const Cell* summary) noexcept
{
    support::found_by_emitted_code();
    CountSummary counts;
    std::memcpy(static_cast<void*>(&counts), summary, sizeof(counts));
    Stats& stats = *frame.stats;
    stats.operations += counts.operations;
    stats.instructions += counts.instructions;
    for (std::size_t i = 0; i < counts.fused.size(); ++i)
        stats.fused[i] += counts.fused[i];
}

/// Bytes of the longest access.
constexpr std::uint64_t max_access = 8;
}  // namespace

Frame make_frame(semantics::State& state,
                 const std::atomic<bool>& pause_requested,
                 code::TargetCache& targets,
                 Stats* stats) noexcept
{
    // Emitted code reads the flag as a byte.
    static_assert(sizeof(std::atomic<bool>) == 1 && std::atomic<bool>::is_always_lock_free);
    return {.state = &state,
            .bytes = state.memory.bytes,
            .flags = state.memory.flags,
            .safe_address = state.memory.load_end - max_access,
            .pause_requested = &pause_requested,
            .targets = targets.entries.data(),
            .stats = stats,
            .check_load = check_load,
            .check_store = check_store,
            .execute = execute,
            .count = count,
            .cycles_left = state.max_cycles - state.cycles};
}
}  // namespace mopvm::asm_x64
