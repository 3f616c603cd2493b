// SPDX-License-Identifier: MIT
// The process's handlers: emitted once, and tested before anybody relies on them.

#include "asm_x64/handlers.hpp"
#include "asm_x64/self_test.hpp"

#include <new>

namespace mopvm::asm_x64
{
namespace
{
constinit std::span<const Sequence> wanted_sequences;

std::expected<Handlers, std::string> start() noexcept
try {
    const std::span<const Sequence> sequences =
        wanted_sequences.data() != nullptr ? wanted_sequences : chosen_sequences();
    auto handlers = Handlers::emit(sequences);
    if (!handlers)
        return handlers;
    if (std::string problem = self_test(*handlers, sequences); !problem.empty())
        return std::unexpected{std::move(problem)};
    return handlers;
} catch (const std::bad_alloc&) {
    return std::unexpected{std::string{"out of memory"}};  // short enough to need none
}
}  // namespace

const std::expected<Handlers, std::string>& handlers() noexcept
{
    static const std::expected<Handlers, std::string> process_handlers = start();
    return process_handlers;
}

void use_sequences(std::span<const Sequence> sequences) noexcept
{
    wanted_sequences = sequences;
}
}  // namespace mopvm::asm_x64
