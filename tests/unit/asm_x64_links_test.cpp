// SPDX-License-Identifier: MIT
// Links, inline caches and the cache of targets: where one machine went leads no other astray.

#include "unit/asm_x64_machines.hpp"

#include <algorithm>
#include <array>
#include <barrier>
#include <functional>
#include <thread>
#include <utility>
#include <vector>

namespace mopvm::test
{
namespace
{
/// Runs @p program on the reference engine, with decoded code of its own, from registers that
/// @p prepare sets.
template <typename Prepare>
StateDump on_reference_alone(const ElfFile& file, const Config& config, const Prepare& prepare)
{
    Machine machine = loaded(parsed(file), on_reference(config));
    prepare(machine);
    return capture(machine, machine.run());
}

constexpr std::uint64_t base = 0x10000;

/// Calls the function at s3 from one place, s1 times; in each round s3 and s4 change places when s5
/// is 1. Functions stand at `function_address(0)` and on.
constexpr std::uint64_t function_distance = 1024;  // so that they share a place in caches
constexpr std::uint64_t function_address(std::uint64_t i)
{
    return base + page_size + i * function_distance;
}

Assembler caller()
{
    Assembler a{base};
    const auto again = a.bound_label();
    const auto stay = a.label();
    a.jalr(ra, 0, s3);
    a.beqz(s5, stay);
    a.mv(t1, s3);
    a.mv(s3, s4);
    a.mv(s4, t1);
    a.bind(stay);
    a.addi(s1, s1, -1);
    a.bnez(s1, again);
    a.exit(0);
    for (std::uint64_t i = 0; i < 3; ++i) {
        a.pad_to(function_address(i));
        a.slli(a1, a1, 1);
        a.addi(a1, a1, static_cast<std::int32_t>(1 + i));
        a.ret();
    }
    return a;
}

/// What one machine is to call.
struct Calls
{
    std::uint64_t first;
    std::uint64_t second;
    bool alternate;
};

constexpr std::array call_patterns{Calls{0, 0, false}, Calls{1, 1, false}, Calls{2, 0, true},
                                   Calls{0, 1, true}, Calls{1, 2, true}};

void prepare_calls(Machine& machine, const Calls& calls, std::uint64_t rounds)
{
    machine.set_reg(s1, rounds);
    machine.set_reg(s3, function_address(calls.first));
    machine.set_reg(s4, function_address(calls.second));
    machine.set_reg(s5, calls.alternate ? 1 : 0);
}

TEST(AsmInlineCaches, of_machines_one_after_another_lead_each_to_its_own_target)
{
    const ElfFile file = program(caller());
    const Program shared = parsed(file);
    for (int i = 0; i < 2; ++i)
        for (const Calls& calls : call_patterns) {
            const auto prepare = [&](Machine& machine) { prepare_calls(machine, calls, 100); };
            Machine machine = loaded(shared, asm_config());
            prepare(machine);
            const StateDump wanted = on_reference_alone(file, asm_config(), prepare);
            EXPECT_EQ(difference(wanted, capture(machine, machine.run())), "");
        }
}

TEST(AsmInlineCaches, of_machines_on_several_threads_lead_each_to_its_own_target)
{
    const ElfFile file = program(caller());
    for (int repeats = 0; repeats < 20; ++repeats) {
        const Program shared = parsed(file);
        std::array<StateDump, call_patterns.size()> got;
        {
            std::barrier all_ready{std::ssize(call_patterns)};
            std::vector<std::jthread> threads;
            for (std::size_t i = 0; i < call_patterns.size(); ++i)
                threads.emplace_back([&, i] {
                    Machine machine = loaded(shared, asm_config());
                    prepare_calls(machine, call_patterns[i], 500);
                    all_ready.arrive_and_wait();
                    got[i] = capture(machine, machine.run());
                });
        }
        for (std::size_t i = 0; i < call_patterns.size(); ++i) {
            const StateDump wanted = on_reference_alone(file, asm_config(), [&](Machine& machine) {
                prepare_calls(machine, call_patterns[i], 500);
            });
            ASSERT_EQ(difference(wanted, got[i]), "") << "machine " << i;
        }
    }
}

TEST(AsmInlineCaches, compare_all_bits_of_an_address)
{
    // The same call again, to what is the same address but for bits above the lowest 32.
    const ElfFile file = program(caller());
    Machine machine = loaded(parsed(file), asm_config());
    prepare_calls(machine, {0, 0, true}, 2);
    machine.set_reg(s4, function_address(0) + (std::uint64_t{1} << 32));
    const Exit exit = machine.run();
    EXPECT_EQ(exit.error.code, ErrorCode::mem_out_of_bound);
    EXPECT_EQ(exit.pc, function_address(0) + (std::uint64_t{1} << 32));
    EXPECT_EQ(machine.reg(s1), 1U);
}

TEST(AsmTargetCache, compares_all_bits_of_an_address)
{
    // A jump to base + 8, and then to something that has the same place in the cache.
    Assembler a{base};
    a.jalr(zero, 0, s3);
    a.nop();
    a.mv(s3, s4);
    a.jal(zero, -12);
    const ElfFile file = program(a);
    for (const std::uint64_t distance :
         {std::uint64_t{1} << 32, std::uint64_t{1} << 63, std::uint64_t{1024}})
    {
        Machine machine = loaded(parsed(file), asm_config());
        Machine reference = loaded(parsed(file), on_reference(asm_config()));
        for (Machine* each : {&machine, &reference}) {
            each->set_reg(s3, base + 8);
            each->set_reg(s4, base + 8 + distance);
        }
        EXPECT_TRUE(runs_like(machine, reference));
        EXPECT_EQ(machine.pc(), base + 8 + distance);
    }
}
}  // namespace
}  // namespace mopvm::test
