// SPDX-License-Identifier: MIT
// Pauses: emitted code looks at the flag on every way on which control can come back.

#include "unit/asm_x64_machines.hpp"

#include "code/code_view.hpp"
#include "machine/backend.hpp"
#include "memory/mapping.hpp"
#include "semantics/step.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <functional>
#include <new>
#include <ostream>
#include <thread>
#include <vector>

namespace mopvm::test
{
namespace
{
constexpr std::uint64_t base = 0x10000;

/// A way round a loop without end. Somewhere in each round is `round`.
struct Loop
{
    const char* name;
    std::function<void(Assembler&)> write;
    /// Distance of the second place that computed jumps go to, in s4, from the first, in s3.
    std::uint64_t second_place = 0;
};

/// Counts in s2, and sets the byte at s0 in the round in which s1 comes down to 0. Sixteen bytes.
void round(Assembler& a)
{
    a.addi(s2, s2, 1);
    a.addi(s1, s1, -1);
    a.sltiu(t0, s1, 1);
    a.sb(t0, 0, s0);
}

void swap_places(Assembler& a)
{
    a.mv(t1, s3);
    a.mv(s3, s4);
    a.mv(s4, t1);
}

std::vector<Loop> loops()
{
    std::vector<Loop> all;
    const auto add = [&](const char* name, auto write, std::uint64_t second_place = 0) {
        all.push_back({name, write, second_place});
    };
    add("branch", [](Assembler& a) {
        const auto again = a.bound_label();
        round(a);
        a.bnez(s2, again);
    });
    add("branch_of_two_registers", [](Assembler& a) {
        const auto again = a.bound_label();
        round(a);
        a.bltu(zero, s2, again);
    });
    add("jump", [](Assembler& a) {
        const auto again = a.bound_label();
        round(a);
        a.j(again);
    });
    add("jump_behind_untaken_branches", [](Assembler& a) {
        const auto again = a.bound_label();
        round(a);
        for (int i = 0; i < 40; ++i)
            a.beqz(s2, again);
        a.j(again);
    });
    add("call", [](Assembler& a) {
        const auto again = a.bound_label();
        round(a);
        a.jal(ra, again);
    });
    add("far_jump", [](Assembler& a) {
        round(a);
        a.auipc(ra, 0);
        a.jalr(ra, -16, ra);
    });
    add("return", [](Assembler& a) {
        const auto again = a.bound_label();
        const auto function = a.label();
        a.jal(ra, function);
        a.j(again);
        a.bind(function);
        round(a);
        a.ret();
    });
    add("indirect_jump", [](Assembler& a) {
        round(a);
        a.jalr(zero, 0, s3);
    });
    add("indirect_call", [](Assembler& a) {
        round(a);
        a.jalr(ra, 0, s3);
    });
    // Each of two calls always goes to the other.
    add(
        "calls_of_each_other",
        [](Assembler& a) {
            for (int i = 0; i < 2; ++i) {
                round(a);
                swap_places(a);
                a.jalr(ra, 0, s3);
            }
        },
        32);
    // One jump and one call that go elsewhere each time.
    add(
        "indirect_jump_to_two_places",
        [](Assembler& a) {
            a.addi(s5, s5, 1);
            round(a);
            swap_places(a);
            a.jalr(zero, 0, s3);
        },
        4);
    add(
        "indirect_call_of_two_places",
        [](Assembler& a) {
            a.addi(s5, s5, 1);
            round(a);
            swap_places(a);
            a.jalr(ra, 0, s3);
        },
        4);
    add("jump_from_another_page", [](Assembler& a) {
        const auto again = a.bound_label();
        const auto far_away = a.label();
        a.j(far_away);
        a.pad_to(base + page_size + 64);
        a.bind(far_away);
        round(a);
        a.j(again);
    });
    add("jump_behind_long_straight_code", [](Assembler& a) {
        const auto again = a.bound_label();
        round(a);
        for (int i = 0; i < 300; ++i)
            a.addi(s6, s6, i);
        a.j(again);
    });
    return all;
}

/// A state whose pause flag is a byte of the guest's memory, so that the guest itself decides when
/// a pause is wanted.
class SelfPausing
{
public:
    SelfPausing(const Backend& backend, const Loop& loop, bool counting)
        : m_backend{backend},
          m_code{code::code_config(asm_config(), backend.format(counting))},
          m_counting{counting}
    {
        Assembler a{base};
        loop.write(a);
        memory::Space& space = m_mapping.space();
        EXPECT_TRUE(
            Memory{space}.init_pages(base, 2 * page_size, page_flag::executable, a.code(), 0));
        m_flag = ::new (space.bytes + flag_address) std::atomic<bool>{false};
        state.memory = space;
        state.pc = base;
        state.max_cycles = ~std::uint64_t{0};
        state.x[s0] = flag_address;
        state.x[s3] = base;
        state.x[s4] = base + loop.second_place;
        EXPECT_TRUE(m_code.refresh(state.memory));
    }

    /// Lets the guest set the flag after @p rounds.
    void want_pause_after(std::uint64_t rounds)
    {
        m_flag->store(false);
        state.x[s1] = rounds;
    }
    Stop run()
    {
        return m_backend.run(
            state,
            {.code = m_code, .pause_requested = *m_flag, .stats = m_counting ? &stats : nullptr});
    }
    /// Executes one operation after another, without a look at the flag, until @p cycles are used.
    void step_to(std::uint64_t cycles)
    {
        while (state.cycles < cycles)
            ASSERT_EQ(semantics::step(state, m_code, m_counting ? &stats : nullptr),
                      semantics::Outcome::next);
    }

    semantics::State state;
    Stats stats;

private:
    static constexpr std::uint64_t flag_address = 0x20008;

    const Backend& m_backend;
    memory::Mapping m_mapping = memory::Mapping::create(min_memory_size, Version::v2).value();
    code::CodeView m_code;
    bool m_counting;
    std::atomic<bool>* m_flag = nullptr;
};

class AsmPause : public testing::TestWithParam<Loop>
{};

TEST_P(AsmPause, is_honoured_in_the_round_in_which_it_is_wanted)
{
    for (const bool counting : {false, true}) {
        SelfPausing emitted{*find_backend("asm").value(), GetParam(), counting};
        SelfPausing stepped{*find_backend(reference_engine).value(), GetParam(), counting};
        std::uint64_t rounds = 0;
        // The first rounds resolve links and fill caches; the flag is seen with and without that.
        for (const std::uint64_t more : {1U, 1U, 5U, 2U, 100U}) {
            rounds += more;
            emitted.want_pause_after(more);
            stepped.want_pause_after(more);
            ASSERT_EQ(emitted.run(), Stop::paused);
            ASSERT_EQ(emitted.state.x[s2], rounds);
            // What it paused in is a state that every run comes through.
            stepped.step_to(emitted.state.cycles);
            ASSERT_EQ(emitted.state.cycles, stepped.state.cycles);
            ASSERT_EQ(emitted.state.pc, stepped.state.pc);
            ASSERT_EQ(emitted.stats, stepped.stats);
            ASSERT_TRUE(std::ranges::equal(emitted.state.x, stepped.state.x));
        }
    }
}

TEST_P(AsmPause, from_another_thread_ends_the_loop)
{
    using namespace std::chrono_literals;
    Assembler a{base};
    GetParam().write(a);
    Config config = asm_config();
    config.max_cycles = ~std::uint64_t{0};
    Machine machine = loaded(parsed(program(a)), config);
    machine.set_reg(s0, data_address);
    machine.set_reg(s3, base);
    machine.set_reg(s4, base + GetParam().second_place);
    std::uint64_t rounds = 0;
    for (int pauses = 0; pauses < 2; ++pauses) {
        Exit exit;
        {
            const std::jthread pauser{[handle = machine.pause_handle()] {
                std::this_thread::sleep_for(1ms);
                handle.request();
            }};
            exit = machine.run();
        }
        ASSERT_EQ(exit.reason, Exit::Reason::paused);
        EXPECT_GE(exit.pc, base);
        EXPECT_LT(exit.pc, a.here());
        EXPECT_GE(machine.reg(s2), rounds);
        rounds = machine.reg(s2);
    }
}

INSTANTIATE_TEST_SUITE_P(All, AsmPause, testing::ValuesIn(loops()), [](const auto& test) {
    return test.param.name;
});

void PrintTo(const Loop& loop, std::ostream* out)
{
    *out << loop.name;
}
}  // namespace
}  // namespace mopvm::test
