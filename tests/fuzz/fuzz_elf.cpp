// SPDX-License-Identifier: MIT
// Any bytes as an ELF file: parsed, loaded and run for a while in every version.

#include "support/fuzz_check.hpp"
#include "support/guest_calls.hpp"
#include "support/model_machine.hpp"
#include "support/state_dump.hpp"

#include <mopvm/mopvm.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace
{
using namespace mopvm;

constexpr std::uint64_t some_limit = 3'000;

/// What holds for every program that was accepted.
void check_program(const Program& program, std::span<const std::byte> file)
{
    std::uint64_t bytes = 0;
    for (const Segment& segment : program.segments()) {
        const auto text = [&] { return "segment at " + std::to_string(segment.address); };
        test::check(segment.address % page_size == 0 && segment.size % page_size == 0, text);
        test::check(segment.padding < page_size, text);
        test::check(segment.file_offset <= file.size() &&
                        segment.file_size <= file.size() - segment.file_offset,
                    text);
        test::check((segment.elf_flags & 4) != 0 && (segment.elf_flags & 3) != 3, text);
        bytes += segment.file_size;
    }
    test::check(program.loaded_bytes() == bytes, [] { return std::string{"loaded bytes"}; });
}

void load_and_run(const Program& program, Config config)
{
    static constexpr std::array<std::string_view, 2> words{"program", "argument"};
    config.max_cycles = some_limit;
    config.memory_size = min_memory_size;
    config.count_operations = true;
    auto machine = Machine::create(config).value();
    const auto loaded = machine.load(program, words);
    if (!loaded) {
        for (const std::uint64_t reg : machine.registers())
            test::check(reg == 0, [] { return std::string{"a register after a failed load"}; });
        test::check(machine.pc() == 0, [] { return std::string{"pc after a failed load"}; });
    }
    test::ModelMachine model{machine, {}};
    const Exit wanted = model.run();
    const Exit got = machine.run();
    const test::StateDump wanted_state = test::capture(model, wanted);
    const test::StateDump got_state = test::capture(machine, got);
    test::check(wanted_state == got_state, [&] {
        return "version " + std::to_string(static_cast<int>(config.version)) + "\n" +
               test::difference(wanted_state, got_state);
    });
    test::check(test::clean_pages_are_zero(machine),
                [] { return std::string{"a page was written and is not dirty"}; });
}
}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    const auto file = std::as_bytes(std::span{data, size});
    const auto program = Program::from_elf(file);
    if (!program) {
        test::check(!message(program.error()).empty(), [] { return std::string{"no message"}; });
        return 0;
    }
    check_program(*program, file);
    load_and_run(*program, {.version = Version::v0, .isa_b = false, .fusion = false});
    load_and_run(*program, {.version = Version::v1});
    load_and_run(*program, {.version = Version::v2, .isa_a = true});
    return 0;
}
