// SPDX-License-Identifier: MIT
// Fusion: the matcher alone at every instruction of a program, and its share in building blocks.

#include "code/code_view.hpp"
#include "elf/loader.hpp"
#include "fusion/fuser.hpp"
#include "guest.hpp"
#include "memory/mapping.hpp"
#include "registration.hpp"
#include "sweep.hpp"

#include <algorithm>
#include <span>

namespace mopvm::bench
{
namespace
{
/// Fused operations that would begin at the instructions of @p code, the first at address @p pc.
std::uint64_t matches(std::span<const isa::Instruction> code, std::uint64_t pc)
{
    std::uint64_t found = 0;
    for (std::size_t i = 0; i < code.size(); pc += code[i++].length) {
        const std::size_t wanted = fusion::window_size(code[i].opcode, sweep_isa.version);
        if (wanted == 0)
            continue;
        const auto window = code.subspan(i, std::min(wanted, code.size() - i));
        if (fusion::fuse(window, pc, sweep_isa.version))
            ++found;
    }
    return found;
}

void fuse(benchmark::State& state, const Program& program)
{
    const std::vector<Word> words = sweep(program);
    std::vector<isa::Instruction> code;
    code.reserve(words.size());
    for (const Word& word : words)
        code.push_back(word.instruction);

    const std::uint64_t expected = matches(code, words.front().address);
    for ([[maybe_unused]] auto iteration : state) {
        if (matches(code, words.front().address) != expected)
            throw std::runtime_error{"other sequences fuse the second time"};
    }
    state.counters["fused"] = total(expected);
    state.counters["instructions"] = total(code.size());
    state.counters["per_instruction"] = time_per(code.size());
}

/// Builds the blocks of a whole program, one behind the other, in an image that begins empty.
void build(benchmark::State& state, const Program& program, const Config& config)
{
    memory::Mapping mapping = value_of(memory::Mapping::create(config.memory_size, config.version));
    const memory::Space& space = mapping.space();
    const elf::Image parsed = value_of(elf::parse(program.file()));
    value_of(elf::load(parsed, program.file(), mapping.space(), config.version));
    const std::vector<std::uint64_t> pages = code::executable_pages(space);
    const std::vector<Word> words = sweep(program);

    memory::Fault fault;
    std::uint64_t instructions = 0;
    for ([[maybe_unused]] auto iteration : state) {
        code::CodeImage image{code::code_config(config), pages};
        instructions = 0;
        std::uint64_t behind = 0;
        for (const Word& word : words) {
            if (word.address < behind)
                continue;
            const code::Block* block = image.build(word.address, space, fault);
            if (block == nullptr)
                throw std::runtime_error{message(memory::to_error(fault))};
            behind = word.address;
            for (const isa::Operation& operation : block->operations()) {
                behind += operation.length;
                instructions += operation.parts;
            }
        }
    }
    if (instructions != words.size())
        throw std::runtime_error{"the blocks hold another number of instructions"};
    state.counters["instructions"] = total(instructions);
    state.counters["per_instruction"] = time_per(instructions);
}
}  // namespace

void add_fusion()
{
    for (const auto& [name, program] : programs()) {
        add("fuser/fusion/" + name, [=](benchmark::State& state) { fuse(state, program); });
        for (const bool fusion : {false, true}) {
            Config config;
            config.fusion = fusion;
            add((fusion ? "code+mop/build/" : "code/build/") + name,
                [=](benchmark::State& state) { build(state, program, config); });
        }
    }
}
}  // namespace mopvm::bench
