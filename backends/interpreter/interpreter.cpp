// SPDX-License-Identifier: MIT
// The reference engine: a plain loop over the semantics of each operation.

#include "interpreter/interpreter.hpp"

#include "semantics/step.hpp"

namespace mopvm::interpreter
{
namespace
{
using semantics::Outcome;

constexpr Stop to_stop(Outcome outcome) noexcept
{
    switch (outcome) {
    case Outcome::ecall:
        return Stop::ecall;
    case Outcome::ebreak:
        return Stop::ebreak;
    case Outcome::next:
    case Outcome::fault:
        break;
    }
    return Stop::fault;
}

/// Executes block after block. Every control transfer ends a block, so looking at the pause flag
/// between blocks covers every loop. Flattened, as the compiler thinks too big what is the whole
/// point: the dispatch of each operation inside this loop.
[[gnu::flatten]] Stop run(semantics::State& state, const RunContext& context) noexcept
{
    while (!context.pause_requested.load(std::memory_order_relaxed)) {
        if (state.pc % 2 != 0) [[unlikely]] {
            // Blocks begin at even addresses.
            const Outcome outcome = semantics::step(state, context.code, context.stats);
            if (outcome != Outcome::next)
                return to_stop(outcome);
            continue;
        }
        const code::Block* block = context.code.find(state.pc, state.memory, state.fault);
        if (block == nullptr)
            return Stop::fault;
        for (const isa::Operation& operation : code::operations(*block)) {
            const Outcome outcome = semantics::perform(state, operation, context.stats);
            if (outcome != Outcome::next) [[unlikely]]
                return to_stop(outcome);
        }
    }
    return Stop::paused;
}
}  // namespace

constexpr Backend backend{
    .name = "interpreter",
    .why_not = []() noexcept { return std::string_view{}; },
    .format = [](bool) noexcept -> const code::BlockFormat& { return code::operation_format; },
    .run = run,
};
}  // namespace mopvm::interpreter
