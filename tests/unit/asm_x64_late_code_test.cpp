// SPDX-License-Identifier: MIT
// Machines that share a program, some of which have a further page of code of their own: nothing
// that all share leads into it, or is what it is because of it.

#include "unit/asm_x64_machines.hpp"

#include <array>
#include <barrier>
#include <functional>
#include <optional>
#include <string>
#include <thread>
#include <vector>

namespace mopvm::test
{
namespace
{
constexpr std::uint64_t base = 0x10000;
/// Behind the two pages of every program; some machines map it.
constexpr std::uint64_t late_page = base + 2 * page_size;

/// The code of a late page, or none.
using Late = std::optional<std::vector<std::byte>>;

/// A program of two pages, and what its machines may have behind them.
struct Subject
{
    std::string name;
    std::vector<std::byte> code;
    std::array<Late, 3> late;
};

using Write = std::function<void(Assembler&)>;

Late code_of(const Write& write)
{
    Assembler a{late_page};
    write(a);
    a.exit_with_a0();
    return a.code();
}

/// @p a with zeros up to the late page.
std::vector<std::byte> two_pages(const Assembler& a)
{
    std::vector<std::byte> code = a.code();
    EXPECT_LE(code.size(), 2 * page_size);
    code.resize(2 * page_size);
    return code;
}

ElfFile file_of(const Subject& subject)
{
    return {.entry = base, .segments = {{.vaddr = base, .bytes = subject.code}}};
}

/// A way into the late page.
Subject into_the_late_page(const char* name, const Write& way)
{
    Assembler a{base};
    a.addi(s6, s6, 1);
    way(a);
    const Late one = code_of([](Assembler& late) { late.addi(a0, s6, 1); });
    const Late other = code_of([](Assembler& late) {
        late.mulhu(t0, s6, s6);
        late.mul(t1, s6, s6);
        late.addi(a0, s6, 2);
    });
    return {name, two_pages(a), {std::nullopt, one, other}};
}

std::vector<Subject> ways_into_the_late_page()
{
    const auto to_late = [](const Assembler& a) {
        return static_cast<std::int32_t>(late_page - a.here());
    };
    /// Goes to what @p write puts directly in front of the late page, @p bytes long.
    const auto in_front = [](std::uint64_t bytes, const Write& write) {
        return [bytes, write](Assembler& a) {
            const auto place = a.label();
            a.jal(ra, place);
            a.pad_to(late_page - bytes);
            a.bind(place);
            write(a);
        };
    };
    return {
        into_the_late_page("jump", [&](Assembler& a) { a.jal(zero, to_late(a)); }),
        into_the_late_page("call", [&](Assembler& a) { a.jal(ra, to_late(a)); }),
        into_the_late_page("indirect jump", [](Assembler& a) { a.jalr(zero, 0, s3); }),
        into_the_late_page("indirect call", [](Assembler& a) { a.jalr(ra, 0, s3); }),
        into_the_late_page("far jump",
                           [](Assembler& a) {
                               a.auipc(ra, 2);
                               a.jalr(ra, -4, ra);  // this AUIPC stands at base + 4
                           }),
        into_the_late_page("straight on", in_front(12,
                                                   [](Assembler& a) {
                                                       for (int i = 0; i < 3; ++i)
                                                           a.addi(s7, s7, 1);
                                                   })),
        into_the_late_page("behind an untaken branch",
                           in_front(4, [](Assembler& a) { a.bne(zero, zero, -8); })),
        into_the_late_page("a taken branch", in_front(8,
                                                      [](Assembler& a) {
                                                          a.beq(zero, zero, 8);
                                                          a.nop();
                                                      })),
        into_the_late_page("an instruction that the page end cuts",
                           in_front(2, [](Assembler& a) { a.half(0x0001); })),
    };
}

/// LUI at the page end, which fuses with what one late page begins with, and what comes first.
Subject cut_by_the_page_end(const char* name, const Write& lead)
{
    Assembler probe{base};
    lead(probe);
    Assembler a{base};
    const auto place = a.label();
    a.addi(s6, s6, 1);
    a.jal(ra, place);
    a.pad_to(late_page - 4 - (probe.here() - base));
    a.bind(place);
    lead(a);
    a.lui(a0, 5);
    const Late fusing = code_of([](Assembler& late) { late.addiw(a0, a0, 1); });
    const Late other = code_of([](Assembler& late) { late.addi(a0, a0, 1); });
    return {name, two_pages(a), {std::nullopt, fusing, other}};
}

/// The same, reached by code that is decoded when the page end has been already: in the first run
/// one call leads there, in the second run another.
Subject cut_and_reached_again(const char* name, const Write& again)
{
    constexpr std::uint64_t place = late_page - 4;
    constexpr std::uint64_t second_run = base + 0x800;
    Assembler a{base};
    a.addi(s6, s6, 1);
    a.andi(t0, s6, 1);
    a.bne(t0, zero, 8);
    a.jal(zero, static_cast<std::int32_t>(second_run - a.here()));
    a.jal(ra, static_cast<std::int32_t>(place - a.here()));
    a.pad_to(second_run);
    a.jal(zero, 4);
    again(a);
    a.pad_to(place);
    a.lui(a0, 5);
    const Late fusing = code_of([](Assembler& late) { late.addiw(a0, a0, 1); });
    const Late other = code_of([](Assembler& late) { late.addi(a0, a0, 1); });
    return {name, two_pages(a), {std::nullopt, fusing, other}};
}

std::vector<Subject> sequences_cut_by_the_page_end()
{
    const auto to_the_end = [](const Assembler& a) {
        return static_cast<std::int32_t>(late_page - 4 - a.here());
    };
    return {
        cut_by_the_page_end("alone", [](Assembler&) {}),
        cut_by_the_page_end("behind more of its block", [](Assembler& a) { a.addi(s7, s7, 1); }),
        cut_by_the_page_end("behind an untaken branch",
                            [](Assembler& a) { a.bne(zero, zero, -16); }),
        cut_by_the_page_end("behind two untaken branches",
                            [](Assembler& a) {
                                a.bne(zero, zero, -16);
                                a.addi(s7, s7, 1);
                                a.bne(s7, s7, -16);
                            }),
        cut_by_the_page_end("behind a taken branch", [](Assembler& a) { a.beq(zero, zero, 4); }),
        cut_by_the_page_end("behind a jump", [](Assembler& a) { a.jal(zero, 4); }),
        cut_by_the_page_end("behind a call", [](Assembler& a) { a.jal(ra, 4); }),
        cut_by_the_page_end("behind a computed jump",
                            [](Assembler& a) {
                                a.jal(t1, 4);
                                a.jalr(zero, 4, t1);
                            }),
        cut_by_the_page_end("behind a computed call",
                            [](Assembler& a) {
                                a.jal(t1, 4);
                                a.jalr(ra, 4, t1);
                            }),
        cut_and_reached_again("by another jump", [&](Assembler& a) { a.jal(zero, to_the_end(a)); }),
        cut_and_reached_again("by another call", [&](Assembler& a) { a.jal(ra, to_the_end(a)); }),
        cut_and_reached_again("by a computed call",
                              [&](Assembler& a) {
                                  a.addi(t1, s3, -4);
                                  a.jalr(ra, 0, t1);
                              }),
        cut_by_the_page_end("behind more than a block",
                            [](Assembler& a) {
                                for (int i = 0; i < 130; ++i)
                                    a.addi(s7, s7, 1);
                            }),
    };
}

/// Three runs from the entry, of which the later ones find what the first one left.
std::vector<StateDump> runs_of(Machine& machine, const Late& late)
{
    EXPECT_TRUE(!late ||
                machine.memory().init_pages(late_page, page_size, page_flag::executable, *late, 0));
    std::vector<StateDump> dumps;
    for (int i = 0; i < 3; ++i) {
        machine.set_pc(base);
        machine.set_reg(s3, late_page);
        dumps.push_back(capture(machine, machine.run()));
    }
    return dumps;
}

/// What every machine of @p subject does when it is alone, on the reference engine.
std::array<std::vector<StateDump>, 3> alone(const Subject& subject, const Config& config)
{
    std::array<std::vector<StateDump>, 3> dumps;
    for (std::size_t i = 0; i < dumps.size(); ++i) {
        Machine machine = loaded(parsed(file_of(subject)), on_reference(config));
        dumps[i] = runs_of(machine, subject.late[i]);
    }
    return dumps;
}

void expect_equal(const std::vector<StateDump>& wanted,
                  const std::vector<StateDump>& got,
                  const std::string& what)
{
    for (std::size_t i = 0; i < wanted.size(); ++i)
        ASSERT_EQ(difference(wanted[i], got[i]), "") << what << ", run " << i;
}

class AsmLateCode : public testing::TestWithParam<bool>
{
protected:
    /// Machines with and without late code, in every order of a few, on one program.
    static void expect_no_trace_of_others(const Subject& subject)
    {
        const Config config = asm_config(GetParam());
        const auto wanted = alone(subject, config);
        for (const std::vector<std::size_t>& order :
             {std::vector<std::size_t>{0, 1, 0, 2, 0, 1}, {1, 0, 2, 0, 1}, {2, 1, 0, 1, 2}})
        {
            const Program shared = parsed(file_of(subject));
            // Half of them live on beside those that come later.
            std::vector<Machine> alive;
            for (std::size_t n = 0; n < order.size(); ++n) {
                const std::size_t i = order[n];
                Machine machine = loaded(shared, config);
                expect_equal(wanted[i], runs_of(machine, subject.late[i]),
                             subject.name + ", machine " + std::to_string(n) + " with late code " +
                                 std::to_string(i));
                if (n % 2 == 0)
                    alive.push_back(std::move(machine));
            }
        }
    }
};

TEST_P(AsmLateCode, is_reached_by_those_alone_who_have_it)
{
    for (const Subject& subject : ways_into_the_late_page())
        expect_no_trace_of_others(subject);
}

TEST_P(AsmLateCode, changes_what_fuses_in_front_of_it_for_those_alone_who_have_it)
{
    for (const Subject& subject : sequences_cut_by_the_page_end())
        expect_no_trace_of_others(subject);
}

TEST_P(AsmLateCode, of_one_thread_is_not_that_of_another)
{
    const Config config = asm_config(GetParam());
    auto subjects = ways_into_the_late_page();
    for (Subject& subject : sequences_cut_by_the_page_end())
        subjects.push_back(std::move(subject));
    for (const Subject& subject : subjects) {
        const auto wanted = alone(subject, config);
        const Program shared = parsed(file_of(subject));
        constexpr std::size_t machines = 6;
        std::array<std::vector<StateDump>, machines> got;
        {
            std::barrier all_ready{std::ptrdiff_t{machines}};
            std::vector<std::jthread> threads;
            for (std::size_t n = 0; n < machines; ++n)
                threads.emplace_back([&, n] {
                    Machine machine = loaded(shared, config);
                    all_ready.arrive_and_wait();
                    got[n] = runs_of(machine, subject.late[n % 3]);
                });
        }
        for (std::size_t n = 0; n < machines; ++n)
            expect_equal(wanted[n % 3], got[n], subject.name + ", thread " + std::to_string(n));
    }
}

INSTANTIATE_TEST_SUITE_P(All, AsmLateCode, testing::Bool(), [](const auto& test) {
    return std::string{test.param ? "fused" : "unfused"};
});
}  // namespace
}  // namespace mopvm::test
