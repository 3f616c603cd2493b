// SPDX-License-Identifier: MIT
/// @file
/// What the fuzz targets run: a program and its configuration out of a fuzzer's decisions, and a
/// way through it that comes to every piece.
#pragma once

#include "support/choices.hpp"
#include "support/guest_calls.hpp"
#include "support/random_program.hpp"

#include <mopvm/mopvm.hpp>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>

namespace mopvm::test
{
/// Cycles of one leg: enough for a few calls.
inline constexpr std::uint64_t leg_limit = 1'800;

/// Cycles after which no further leg begins.
inline constexpr std::uint64_t way_limit = 20'000;

/// One program with what it runs on.
struct Subject
{
    RandomProgram program;
    GuestCalls calls;
    Program loaded;
    Config config;

    /// A machine of the engine @p backend at the entry, with @p handler for its calls; nothing when
    /// the program cannot be loaded.
    [[nodiscard]] std::optional<Machine> machine(std::string_view backend,
                                                 std::shared_ptr<SyscallHandler> handler) const
    {
        Config wanted = config;
        wanted.backend = backend;
        auto made = Machine::create(wanted).value();
        if (!made.add_syscalls(std::move(handler)) || !made.load(loaded))
            return std::nullopt;
        return made;
    }
    [[nodiscard]] std::optional<Machine> machine(std::string_view backend) const
    {
        return machine(backend, std::make_shared<GuestCallHandler>(calls));
    }

    /// Puts @p host, a machine or a model, at @p pc with the first registers and cycles for a leg.
    template <typename Host>
    void begin_leg(Host& host, std::uint64_t pc) const
    {
        for (unsigned i = 1; i < isa::register_count; ++i)
            host.set_reg(i, program.registers[i]);
        host.set_pc(pc);
        host.set_max_cycles(host.cycles() + leg_limit);
    }

    [[nodiscard]] std::string name() const
    {
        std::ostringstream out;
        out << "version " << static_cast<int>(config.version) << ", imc"
            << (config.isa_b ? "b" : "") << (config.isa_a ? "a" : "") << ", fusion "
            << (config.fusion ? "on" : "off");
        return out.str();
    }
};

/// Makes a subject out of @p choices.
[[nodiscard]] inline Subject make_subject(Choices& choices)
{
    const auto version = static_cast<Version>(choices.below(3));
    const decoder::Isa isa{.version = version, .b = !choices.one_in(4), .a = !choices.one_in(4)};
    const bool fusion = version != Version::v0 && !choices.one_in(4);
    const bool late_code = choices.one_in(3);
    const bool counted = !choices.one_in(4);
    const bool constant_cost = choices.one_in(8);
    RandomProgram program =
        make_random_program(choices, {.isa = isa, .pieces = 60, .late_code = late_code});
    GuestCalls calls{.late = program.late};
    Program loaded = Program::from_elf(program.elf).value();
    return {.program = std::move(program),
            .calls = std::move(calls),
            .loaded = std::move(loaded),
            .config = {.version = version,
                       .isa_b = isa.b,
                       .isa_a = isa.a,
                       .fusion = fusion,
                       .cost_model = constant_cost ? CostModel::constant() : CostModel::standard(),
                       .memory_size = random_program_memory,
                       .count_operations = counted}};
}

/// The way through a program in legs. Most generated programs fault, exit or loop early; each leg
/// begins at the first piece behind all places where one stopped, so that none is left out.
class Way
{
public:
    explicit Way(const RandomProgram& program) : m_program{program} {}

    /// Where the next leg begins, the first one at the entry; nothing behind the last piece.
    [[nodiscard]] std::optional<std::uint64_t> next()
    {
        const auto piece = std::ranges::lower_bound(m_program.pieces, m_from);
        if (piece == m_program.pieces.end())
            return std::nullopt;
        m_from = *piece + 1;
        return *piece;
    }

    /// Notes that a leg stopped at @p pc.
    void stopped(std::uint64_t pc)
    {
        if (pc < m_program.code_end)
            m_from = std::max(m_from, pc + 1);
    }

private:
    const RandomProgram& m_program;
    std::uint64_t m_from = 0;
};

/// True when @p exit ends a leg.
[[nodiscard]] inline bool ends_leg(const Exit& exit)
{
    return exit.reason == Exit::Reason::exited || exit.reason == Exit::Reason::error;
}

/// Runs on after pauses and yields until @p host, a machine or a model, comes to the end of a leg.
template <typename Host>
Exit run_leg(Host& host)
{
    for (;;)
        if (Exit exit = host.run(); ends_leg(exit))
            return exit;
}
}  // namespace mopvm::test
