// SPDX-License-Identifier: MIT
// Programs out of a fuzzer's decisions: every engine against the model, and fusion on against off.

#include "support/choices.hpp"
#include "support/fuzz_check.hpp"
#include "support/fuzz_subject.hpp"
#include "support/model_machine.hpp"
#include "support/state_dump.hpp"

#include <mopvm/mopvm.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <sstream>
#include <string>
#include <string_view>

namespace
{
using namespace mopvm;
using test::StateDump;
using test::Subject;

void check_same(const StateDump& wanted,
                const StateDump& got,
                const Subject& subject,
                std::string_view what,
                std::uint64_t begin)
{
    test::check(wanted == got, [&] {
        std::ostringstream out;
        out << what << ", " << subject.name() << ", leg from 0x" << std::hex << begin << '\n'
            << test::difference(wanted, got);
        if (begin != subject.program.code_begin)
            return out.str();
        auto start = subject.machine("interpreter");
        subject.begin_leg(*start, begin);
        test::ModelMachine model{*start, subject.calls};
        return out.str() + test::trace(model, {.version = subject.config.version,
                                               .b = subject.config.isa_b,
                                               .a = subject.config.isa_a});
    });
}

/// The state of @p model as a machine would give it, which only counts when it is told to.
StateDump capture_model(test::ModelMachine& model,
                        const Subject& subject,
                        const std::optional<Exit>& exit)
{
    StateDump dump = test::capture(model, exit);
    if (!subject.config.count_operations)
        dump.stats = {};
    return dump;
}

/// The whole way, compared at every stop. A program with late code goes it twice; in between, the
/// code is mapped from outside.
void check_run(const Subject& subject, std::string_view backend, Machine& machine)
{
    test::ModelMachine model{machine, subject.calls};
    const std::uint64_t rounds = subject.calls.late.bytes.empty() ? 1 : 2;
    for (std::uint64_t round = 0; round < rounds; ++round) {
        test::Way way{subject.program};
        while (machine.cycles() < (round + 1) * test::way_limit) {
            const auto begin = way.next();
            if (!begin)
                break;
            subject.begin_leg(model, *begin);
            subject.begin_leg(machine, *begin);
            Exit wanted;
            do {
                wanted = model.run();
                const Exit got = machine.run();
                check_same(capture_model(model, subject, wanted), test::capture(machine, got),
                           subject, backend, *begin);
            } while (!test::ends_leg(wanted));
            way.stopped(wanted.pc);
        }
        if (rounds > 1) {
            const auto mapped = test::map_late_code(model.memory(), subject.calls.late, round);
            test::check(mapped == test::map_late_code(machine.memory(), subject.calls.late, round),
                        [] { return std::string{"mapping late code"}; });
        }
    }
    test::check(test::clean_pages_are_zero(machine),
                [] { return std::string{"a page was written and is not dirty"}; });
}

/// What fusion may not change.
StateDump without_cycles(StateDump dump)
{
    dump.cycles = dump.exit->cycles = 0;
    dump.stats = {};
    return dump;
}

/// The whole way with fusion on and off, up to a listed exception or a leg that runs into its
/// limit. The guest does not see its cycles.
void check_fusion(Subject subject, std::string_view backend)
{
    subject.calls.cycles_visible = false;
    auto fused = subject.machine(backend);
    test::ModelMachine guide{*fused, subject.calls};
    subject.config.fusion = false;
    auto plain = subject.machine(backend);
    test::Way way{subject.program};
    while (fused->cycles() < test::way_limit) {
        const auto begin = way.next();
        if (!begin)
            return;
        subject.begin_leg(guide, *begin);
        subject.begin_leg(*fused, *begin);
        subject.begin_leg(*plain, *begin);
        plain->set_max_cycles(plain->cycles() + 40 * test::leg_limit);
        const Exit wanted = test::run_leg(guide);
        if (guide.met_exception() || wanted.error.code == ErrorCode::cycles_exceeded)
            return;
        const StateDump got = test::capture(*fused, test::run_leg(*fused));
        const StateDump unfused = test::capture(*plain, test::run_leg(*plain));
        test::check(got.cycles <= unfused.cycles,
                    [&] { return "fusion made it dearer, " + subject.name(); });
        check_same(without_cycles(unfused), without_cycles(got), subject,
                   "want fusion off, got fusion on", *begin);
        way.stopped(wanted.pc);
    }
}
}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    test::Choices choices{std::span{data, size}};
    const Subject subject = test::make_subject(choices);
    for (const std::string_view backend : backends()) {
        auto machine = subject.machine(backend);
        if (!machine)
            return 0;
        check_run(subject, backend, *machine);
        if (subject.config.fusion)
            check_fusion(subject, backend);
    }
    return 0;
}
