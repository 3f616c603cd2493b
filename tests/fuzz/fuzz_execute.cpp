// SPDX-License-Identifier: MIT
// Programs out of a fuzzer's decisions: every engine against the model, in one run and in slices.

#include "support/choices.hpp"
#include "support/fuzz_check.hpp"
#include "support/guest_calls.hpp"
#include "support/model_machine.hpp"
#include "support/random_program.hpp"
#include "support/state_dump.hpp"

#include <mopvm/mopvm.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

namespace
{
using namespace mopvm;
using test::StateDump;

constexpr std::uint64_t some_limit = 1'500;

/// One program with what it runs on.
struct Subject
{
    test::RandomProgram program;
    test::GuestCalls calls;
    Program loaded;
    Config config;

    [[nodiscard]] std::optional<Machine> machine(std::string_view backend) const
    {
        Config wanted = config;
        wanted.backend = backend;
        auto made = Machine::create(wanted).value();
        if (!made.add_syscalls(std::make_shared<test::GuestCallHandler>(calls)) ||
            !made.load(loaded))
            return std::nullopt;
        for (unsigned i = 1; i < isa::register_count; ++i)
            made.set_reg(i, program.registers[i]);
        return made;
    }
};

void check_same(const StateDump& wanted,
                const StateDump& got,
                const Subject& subject,
                std::string_view what)
{
    test::check(wanted == got, [&] {
        auto start = subject.machine("auto");
        test::ModelMachine model{*start, subject.calls};
        return std::string{what} + ", version " +
               std::to_string(static_cast<int>(subject.config.version)) + ", fusion " +
               (subject.config.fusion ? "on" : "off") + '\n' + test::difference(wanted, got) +
               test::trace(model, {.version = subject.config.version,
                                   .b = subject.config.isa_b,
                                   .a = subject.config.isa_a});
    });
}

/// Runs under one limit after another, each above the last, up to the end.
template <typename Host>
StateDump run_in_slices(Host& host, test::Choices choices)
{
    for (std::uint64_t limit = 0; limit < some_limit; limit += 1 + choices.below(90)) {
        host.set_max_cycles(limit);
        const Exit exit = host.run();
        if (exit.reason == Exit::Reason::exited || exit.error.code != ErrorCode::cycles_exceeded)
            return test::capture(host, exit);
    }
    host.set_max_cycles(some_limit);
    return test::capture(host, host.run());
}

/// Stops at every exit, and behind the first maps the late code from outside.
void check_run(const Subject& subject, std::string_view backend)
{
    auto machine = subject.machine(backend);
    test::ModelMachine model{*machine, subject.calls};
    for (int stops = 0; stops < 32; ++stops) {
        const Exit wanted = model.run();
        const Exit got = machine->run();
        check_same(test::capture(model, wanted), test::capture(*machine, got), subject, backend);
        const bool ended =
            wanted.reason == Exit::Reason::exited || wanted.reason == Exit::Reason::error;
        if (!ended)
            continue;
        if (subject.calls.late.bytes.empty() || stops > 2)
            break;
        const auto how = static_cast<std::uint64_t>(stops);
        const auto mapped = test::map_late_code(model.memory(), subject.calls.late, how);
        test::check(mapped == test::map_late_code(machine->memory(), subject.calls.late, how),
                    [] { return std::string{"mapping late code"}; });
        model.set_pc(subject.program.code_begin);
        machine->set_pc(subject.program.code_begin);
        model.set_max_cycles(model.cycles() + some_limit);
        machine->set_max_cycles(machine->cycles() + some_limit);
    }
    test::check(test::clean_pages_are_zero(*machine),
                [] { return std::string{"a page was written and is not dirty"}; });
}
}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    test::Choices choices{std::span{data, size}};
    const auto version = static_cast<Version>(choices.below(3));
    const decoder::Isa isa{.version = version, .b = !choices.one_in(4), .a = !choices.one_in(4)};
    const bool fusion = version != Version::v0 && !choices.one_in(4);
    const bool late_code = choices.one_in(3);
    const test::Choices slices{choices.below(256)};
    test::RandomProgram program =
        test::make_random_program(choices, {.isa = isa, .pieces = 60, .late_code = late_code});
    test::GuestCalls calls{.late = program.late};
    Program loaded = Program::from_elf(program.elf).value();
    const Subject subject{.program = std::move(program),
                          .calls = std::move(calls),
                          .loaded = std::move(loaded),
                          .config = {.version = version,
                                     .isa_b = isa.b,
                                     .isa_a = isa.a,
                                     .fusion = fusion,
                                     .max_cycles = some_limit,
                                     .memory_size = test::random_program_memory,
                                     .count_operations = true}};
    for (const std::string_view backend : backends()) {
        auto sliced = subject.machine(backend);
        if (!sliced)
            return 0;
        test::ModelMachine model{*sliced, subject.calls};
        check_same(run_in_slices(model, slices), run_in_slices(*sliced, slices), subject, backend);
        check_run(subject, backend);
    }
    return 0;
}
