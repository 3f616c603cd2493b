// SPDX-License-Identifier: MIT
// The decoder: bits to instructions, of whole programs.

#include "guest.hpp"
#include "registration.hpp"
#include "sweep.hpp"

namespace mopvm::bench
{
namespace
{
void decode(benchmark::State& state, const Program& program)
{
    const std::vector<Word> words = sweep(program);
    for ([[maybe_unused]] auto iteration : state) {
        for (const Word& word : words)
            benchmark::DoNotOptimize(decoder::decode(word.bits, sweep_isa));
    }
    for (const Word& word : words) {
        if (decoder::decode(word.bits, sweep_isa) != word.instruction)
            throw std::runtime_error{"an instruction decodes differently the second time"};
    }
    state.counters["instructions"] = total(words.size());
    state.counters["per_instruction"] = time_per(words.size());
}
}  // namespace

void add_decode(const std::vector<NamedProgram>& programs)
{
    for (const auto& [name, program] : programs)
        add("decoder/decode/" + name, [=](benchmark::State& state) { decode(state, program); });
}
}  // namespace mopvm::bench
