// SPDX-License-Identifier: MIT
// The engine: emitted code runs until it needs something, and what it left is brought to where the
// reference semantics would be.

#include "asm_x64/engine.hpp"

#include "asm_x64/block_writer.hpp"
#include "asm_x64/handlers.hpp"
#include "code/lookahead.hpp"
#include "semantics/step.hpp"
#include "support/emitted_reads.hpp"

#include <atomic>
#include <cassert>
#include <utility>

namespace mopvm::asm_x64
{
namespace
{
using semantics::Outcome;
using semantics::State;

/// The payload cell at @p cell of a block, which engines on other threads may read and write.
std::uint64_t& payload_at(const Cell* cell) noexcept
{
    return *const_cast<std::uint64_t*>(reinterpret_cast<const std::uint64_t*>(cell));
}

std::uint64_t body_address(const code::Block& block) noexcept
{
    return reinterpret_cast<std::uintptr_t>(block.body());
}

void subtract(Stats& from, const Stats& what) noexcept
{
    from.operations -= what.operations;
    from.instructions -= what.instructions;
    for (std::size_t i = 0; i < from.fused.size(); ++i)
        from.fused[i] -= what.fused[i];
}

/// One call of `run`.
class Run
{
public:
    Run(State& state, const RunContext& context) noexcept
        : m_state{state},
          m_context{context},
          m_frame{make_frame(state, context.pause_requested, context.code.targets(), context.stats)}
    {}

    [[nodiscard]] Stop run() noexcept;

private:
    /// What to do after emitted code came back, or after a step: go on, or tell the machine.
    enum class Next : std::uint8_t
    {
        go_on,
        stop,
    };

    [[nodiscard]] Next step() noexcept;
    [[nodiscard]] Next step_block(std::uint32_t operations) noexcept;
    [[nodiscard]] Next enter(const code::Block& block) noexcept;
    [[nodiscard]] Next follow_link() noexcept;
    [[nodiscard]] Next follow_target() noexcept;
    [[nodiscard]] Next follow_call() noexcept;
    [[nodiscard]] Next fault() noexcept;
    [[nodiscard]] Next outcome(Outcome came_to) noexcept;
    [[nodiscard]] const code::Block* find() noexcept
    {
        return m_context.code.find(m_state.pc, m_state.memory, m_state.fault);
    }

    State& m_state;
    const RunContext& m_context;
    Frame m_frame;
    /// Found by the last way through C++; null when it must be looked up.
    const code::Block* m_next = nullptr;
    Stop m_stop = Stop::fault;
};

Stop Run::run() noexcept
{
    while (!m_context.pause_requested.load(std::memory_order_relaxed)) {
        // Blocks begin at even addresses; and with the counter above the limit nothing may run.
        const bool by_step = m_state.pc % 2 != 0 || m_state.cycles > m_state.max_cycles;
        const code::Block* const block = by_step ? nullptr : std::exchange(m_next, nullptr);
        Next next = Next::stop;
        if (by_step)
            next = step();
        else if (block != nullptr)
            next = enter(*block);
        else if (const code::Block* found = find(); found != nullptr)
            next = enter(*found);
        else
            m_stop = Stop::fault;
        if (next == Next::stop)
            return m_stop;
    }
    return Stop::paused;
}

Run::Next Run::outcome(Outcome came_to) noexcept
{
    switch (came_to) {
    case Outcome::next:
        return Next::go_on;
    case Outcome::fault:
        m_stop = Stop::fault;
        break;
    case Outcome::ecall:
        m_stop = Stop::ecall;
        break;
    case Outcome::ebreak:
        m_stop = Stop::ebreak;
        break;
    }
    return Next::stop;
}

Run::Next Run::step() noexcept
{
    return outcome(semantics::step(m_state, m_context.code, m_context.stats));
}

/// Executes the first @p operations of the block at pc one by one: for its last budget of cycles.
Run::Next Run::step_block(std::uint32_t operations) noexcept
{
    for (std::uint32_t i = 0; i < operations; ++i) {
        if (step() == Next::stop)
            return Next::stop;
    }
    return Next::go_on;
}

/// Runs emitted code from @p block on, and settles what it came back for.
Run::Next Run::enter(const code::Block& block) noexcept
{
    m_frame.ip = reinterpret_cast<const Cell*>(block.body());
    m_frame.cycles_left = m_state.max_cycles - m_state.cycles;
    const Leave leave = handlers()->enter(m_frame);
    support::found_by_emitted_code();
    m_state.cycles = m_state.max_cycles - m_frame.cycles_left;
    switch (leave) {
    case Leave::entry: {
        const code::Block& refused = *code::Block::of_body(m_frame.ip);
        if (refused.operations == 0)
            return follow_link();  // only a pause stops there
        m_state.pc = refused.pc;
        return refused.cost > m_frame.cycles_left ? step_block(refused.operations) : Next::go_on;
    }
    case Leave::link:
        return follow_link();
    case Leave::indirect:
        return follow_target();
    case Leave::indirect_call:
        return follow_call();
    case Leave::fault:
        return fault();
    case Leave::ecall:
        m_state.pc = m_frame.pc;
        m_stop = Stop::ecall;
        return Next::stop;
    case Leave::ebreak:
        m_state.pc = m_frame.pc;
        m_stop = Stop::ebreak;
        return Next::stop;
    }
    std::unreachable();
}

/// Looks up where the link leads whose block without operations is at ip, and resolves it if it may
/// be. Other threads may do the same at the same time, with the same result.
Run::Next Run::follow_link() noexcept
{
    m_state.pc = link_target(m_frame.ip);
    m_next = find();
    if (m_next == nullptr)
        return outcome(Outcome::fault);
    if (code::Block::may_link(*code::Block::of_body(m_frame.ip), *m_next)) {
        std::atomic_ref{payload_at(link_slot(m_frame.ip))}.store(body_address(*m_next),
                                                                 std::memory_order_release);
    }
    return Next::go_on;
}

/// Looks up where a computed jump leads, and keeps it for the next time.
Run::Next Run::follow_target() noexcept
{
    m_state.pc = m_frame.pc;
    m_next = find();
    if (m_next == nullptr)
        return outcome(Outcome::fault);
    m_context.code.targets().at(m_state.pc) = {.pc = m_state.pc, .block = m_next};
    return Next::go_on;
}

/// The same of a call whose inline cache is at ip; the first target stays there.
Run::Next Run::follow_call() noexcept
{
    const Next next = follow_target();
    if (m_next == nullptr)
        return next;
    const std::atomic_ref cache{payload_at(m_frame.ip)};
    for (const bool own : {false, true}) {
        auto empty = reinterpret_cast<std::uintptr_t>(no_block_body(own));
        if (code::Block::may_link({.own = own}, *m_next))
            cache.compare_exchange_strong(empty, body_address(*m_next), std::memory_order_release,
                                          std::memory_order_relaxed);
    }
    return next;
}

/// Takes back what the block was charged for the operation at ip and those behind it, and has the
/// reference execute that one: it knows best why it cannot be.
Run::Next Run::fault() noexcept
{
    const code::Block& block =
        m_context.code.holder(reinterpret_cast<const std::uint64_t*>(m_frame.ip));
    m_state.cycles -= block.cost;
    m_state.pc = block.pc;

    code::Lookahead code{block.pc, m_context.code.config(), m_state.memory};
    const auto* cell = reinterpret_cast<const Cell*>(block.body()) +
                       (m_context.stats != nullptr ? cells(Shape::count) : 0);
    isa::Operation refused;
    Stats undone;
    for (std::uint32_t i = 0; i < block.operations; ++i) {
        isa::Operation operation;
        [[maybe_unused]] const bool decoded = code.next(operation);
        assert(decoded);
        if (refused.opcode == isa::Opcode::invalid) {
            const Encoded encoded = encode(operation, m_state.pc);
            if (cell != m_frame.ip || encoded.cell_count == 0) {
                cell += encoded.cell_count;
                m_state.cycles += operation.cost;
                m_state.pc = code.pc();
                continue;
            }
            refused = operation;
        }
        semantics::count(undone, operation);
    }
    assert(refused.opcode != isa::Opcode::invalid);
    if (m_context.stats != nullptr)
        subtract(*m_context.stats, undone);
    return outcome(semantics::perform(m_state, refused, m_context.stats));
}

template <bool counting>
constexpr code::BlockFormat format{
    .follows_branches = true,
    .write_body =
        [](std::byte* to, const code::BlockSource& source, const code::CodeImage& image) noexcept {
            return write_body(to, source, image, *handlers(), counting);
        },
};
}  // namespace

constexpr Backend backend{
    .name = "asm",
    .why_not = []() noexcept -> std::string_view {
        return handlers() ? std::string_view{} : handlers().error();
    },
    .format = [](bool counting) noexcept -> const code::BlockFormat& {
        return counting ? format<true> : format<false>;
    },
    .run = [](semantics::State& state,
              const RunContext& context) noexcept { return Run{state, context}.run(); },
};
}  // namespace mopvm::asm_x64
