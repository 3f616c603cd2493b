// SPDX-License-Identifier: MIT
// Fusion: the matcher alone at every instruction of a program, and its share in building blocks.

#include "code/code_view.hpp"
#include "elf/loader.hpp"
#include "fusion/fuser.hpp"
#include "guest.hpp"
#include "machine/backend.hpp"
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

/// The block of @p image at @p pc, built unless it is there.
const code::Block& block_at(code::CodeImage& image, std::uint64_t pc, const memory::Space& space)
{
    const code::Block* block = image.find(pc);
    memory::Fault fault;
    if (block == nullptr)
        block = image.build(pc, space, fault);
    if (block == nullptr)
        throw std::runtime_error{message(memory::to_error(fault))};
    return *block;
}

/// Where the operations of @p words begin, one behind the other. Where the blocks of a format end
/// changes none of them.
std::vector<std::uint64_t> operation_addresses(const std::vector<Word>& words,
                                               const memory::Space& space,
                                               std::span<const std::uint64_t> pages,
                                               const Config& config)
{
    code::CodeImage image{code::code_config(config), pages};
    std::vector<std::uint64_t> addresses;
    std::uint64_t instructions = 0;
    std::uint64_t behind = 0;
    for (const Word& word : words) {
        if (word.address < behind)
            continue;
        behind = word.address;
        for (const isa::Operation& operation :
             code::operations(block_at(image, word.address, space)))
        {
            addresses.push_back(behind);
            behind += operation.length;
            instructions += operation.parts;
        }
    }
    if (instructions != words.size())
        throw std::runtime_error{"the blocks hold another number of instructions"};
    return addresses;
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
    const std::vector<std::uint64_t> addresses = operation_addresses(words, space, pages, config);
    const code::BlockFormat& format = value_of(find_backend(config.backend))->format(false);

    std::size_t bytes = 0;
    for ([[maybe_unused]] auto iteration : state) {
        code::CodeImage image{code::code_config(config, format), pages};
        std::size_t built = 0;
        while (built < addresses.size())
            built += block_at(image, addresses[built], space).operations;
        if (built != addresses.size())
            throw std::runtime_error{"the blocks hold another number of operations"};
        bytes = image.decoded_bytes();
    }
    state.counters["instructions"] = total(words.size());
    state.counters["per_instruction"] = time_per(words.size());
    state.counters["bytes"] = total(bytes);
}
}  // namespace

void add_fusion(const std::vector<NamedProgram>& programs)
{
    for (const auto& [name, program] : programs) {
        add("fuser/fusion/" + name, [=](benchmark::State& state) { fuse(state, program); });
        for (const Engine& engine : engines()) {
            add(engine.name + "/build/" + name,
                [=](benchmark::State& state) { build(state, program, engine.config); });
        }
    }
}
}  // namespace mopvm::bench
