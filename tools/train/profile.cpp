// SPDX-License-Identifier: MIT
// Watching a guest step by step.

#include "profile.hpp"

#include "asm_x64/encode.hpp"
#include "code/lookahead.hpp"
#include "elf/loader.hpp"
#include "memory/mapping.hpp"

#include <mopvm/mopvm.hpp>

#include <stdexcept>
#include <unordered_map>

namespace mopvm::train
{
namespace
{
template <typename T>
T value_of(Result<T> result)
{
    if (!result)
        throw std::runtime_error{message(result.error())};
    if constexpr (!std::is_void_v<T>)
        return *std::move(result);
}

/// Straight-line code from one address on.
struct Stretch
{
    std::vector<isa::Operation> operations;
    std::uint64_t count = 0;
};

/// The operations from @p pc to the next transfer, or as many as a block has.
Stretch read_stretch(std::uint64_t pc, const code::CodeConfig& config, const memory::Space& space)
{
    Stretch stretch;
    code::Lookahead code{pc, config, space};
    isa::Operation operation;
    while (stretch.operations.size() < code::max_block_operations && code.next(operation)) {
        stretch.operations.push_back(operation);
        if (isa::ends_block(operation.opcode))
            break;
    }
    return stretch;
}

Run to_run(const Stretch& stretch, std::uint64_t pc)
{
    Run run{.count = stretch.count};
    asm_x64::RelationTracker tracker;
    for (const isa::Operation& operation : stretch.operations) {
        const asm_x64::Encoded unit = asm_x64::encode(operation, pc);
        if (unit.unit != asm_x64::Unit::invalid)
            run.units.push_back(tracker.next(unit));
        pc += operation.length;
    }
    if (!isa::ends_block(stretch.operations.back().opcode))
        run.units.push_back(tracker.next(asm_x64::encode_go_on(pc)));
    return run;
}
}  // namespace

Profile watch(const Guest& guest, bool fusion, std::uint64_t max_cycles)
{
    const Config config{.fusion = fusion, .max_cycles = max_cycles, .backend = "interpreter"};
    Machine machine = value_of(Machine::create(config));
    value_of(machine.add_syscalls(make_silent_syscalls()));
    value_of(machine.load(guest.program, guest.argument_views()));

    // The code once more, where decoding can read it.
    memory::Mapping mapping = value_of(memory::Mapping::create(config.memory_size, config.version));
    const elf::Image headers = value_of(elf::parse(guest.program.file()));
    value_of(elf::load(headers, guest.program.file(), mapping.space(), config.version));
    const code::CodeConfig code = code::code_config(config);

    Profile profile{.name = guest.name};
    std::unordered_map<std::uint64_t, Stretch> stretches;
    for (std::optional<Exit> exit; !exit;) {
        const std::uint64_t pc = machine.pc();
        auto& stretch = stretches[pc];
        if (stretch.operations.empty())
            stretch = read_stretch(pc, code, mapping.space());
        if (stretch.operations.empty())
            throw std::runtime_error{guest.name + " leaves its code"};
        ++stretch.count;
        for (std::size_t i = 0; i < stretch.operations.size() && !exit; ++i) {
            profile.instructions += stretch.operations[i].parts;
            exit = machine.step();
        }
        if (exit && exit->reason != Exit::Reason::exited &&
            exit->error.code != ErrorCode::cycles_exceeded)
            throw std::runtime_error{guest.name + ": " + message(exit->error)};
    }
    for (const auto& [pc, stretch] : stretches)
        profile.runs.push_back(to_run(stretch, pc));
    return profile;
}
}  // namespace mopvm::train
