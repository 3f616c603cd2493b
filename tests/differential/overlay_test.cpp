// SPDX-License-Identifier: MIT
// Code that becomes executable while a machine runs: what was decoded at the page end before must
// not be remembered.

#include "differential/session.hpp"
#include "support/assembler.hpp"

#include <gtest/gtest.h>

#include <functional>

namespace mopvm::test
{
namespace
{
constexpr std::uint64_t first_page = 0x10000;
constexpr std::uint64_t page_end = first_page + page_size;

class Overlay : public OnEveryBackend
{};

TEST_P(Overlay, mapped_by_a_system_call_equals_the_model)
{
    for_each_case(
        GetParam(), 200, 60,
        [](const Case& made) {
            auto machine = made.machine();
            ModelMachine model{*machine, made.calls};
            const Exit wanted = run_to_end(model);
            EXPECT_TRUE(same(capture(model, wanted), capture(*machine, run_to_end(*machine)), made,
                             "with late code"));
        },
        true);
}

/// Goes through the whole life of late code on @p host: run into its missing page, map it, run
/// again, map it with other bytes, run again; each run from the entry or from a place nearby.
template <typename Host>
std::vector<StateDump> life(Host& host, const Case& made)
{
    std::vector<StateDump> dumps;
    Choices choices{made.seed};
    const auto run_from = [&](std::uint64_t pc) {
        host.set_pc(pc);
        for (unsigned reg = 1; reg < isa::register_count; ++reg)
            host.set_reg(reg, made.program.registers[reg]);
        host.set_max_cycles(host.cycles() + some_limit / 2);
        const Exit exit = run_to_end(host);
        dumps.push_back(capture(host, exit));
    };
    for (const std::uint64_t how : {0U, 1U, 0U, 2U, 3U}) {
        run_from(made.program.code_begin);
        run_from(page_end - 2 * choices.below(12));
        const auto mapped = map_late_code(host.memory(), made.calls.late, how);
        EXPECT_EQ(mapped.has_value(), !made.calls.late.bytes.empty() && how != 3) << made.name();
        run_from(page_end - 2 * choices.below(12));
        run_from(made.program.code_begin);
    }
    return dumps;
}

TEST_P(Overlay, mapped_between_runs_equals_the_model)
{
    for_each_case(
        GetParam(), 60, 60,
        [](const Case& generated) {
            // Nobody but the test maps pages.
            Case made = generated;
            made.calls.late = {};
            auto machine = made.machine();
            ModelMachine model{*machine, made.calls};
            made.calls.late = generated.calls.late;
            if (made.calls.late.bytes.empty())
                return;
            const auto wanted = life(model, made);
            const auto got = life(*machine, made);
            for (std::size_t i = 0; i < wanted.size(); ++i)
                ASSERT_TRUE(
                    same(wanted[i], got[i], made, "in run " + std::to_string(i) + " of its life"));
        },
        true);
}

TEST_P(Overlay, of_one_machine_is_no_other_s)
{
    std::uint64_t exits = 0;
    for_each_case(
        GetParam(), 600, 60,
        [&](const Case& generated) {
            // Nobody but the test maps pages.
            Case made = generated;
            made.calls.late = {};
            if (generated.calls.late.bytes.empty())
                return;
            Choices choices{made.seed};
            for (int i = 0; i < 8; ++i) {
                auto machine = made.machine();
                if (choices.one_in(2)) {
                    ASSERT_TRUE(
                        map_late_code(machine->memory(), generated.calls.late, choices.below(4)));
                }
                // Through the page in front, which all machines share.
                machine->set_pc(made.program.jumps_begin +
                                4 * choices.below(made.program.jump_count));
                ModelMachine model{*machine, made.calls};
                const Exit wanted = run_to_end(model);
                exits += wanted.reason == Exit::Reason::exited ? 1 : 0;
                ASSERT_TRUE(same(capture(model, wanted), capture(*machine, run_to_end(*machine)),
                                 made, "machine " + std::to_string(i) + " of the program"));
            }
        },
        true);
    EXPECT_GT(exits, 0U);
}

/// A sequence that the page end cuts, so that what it is depends on the next page.
struct Straddling
{
    const char* name;
    std::uint64_t bytes_before;  ///< Of it that lie before the page end.
    std::function<void(Assembler&)> write;
};

std::vector<Straddling> straddling_sequences()
{
    return {
        {"one instruction", 2, [](Assembler& as) { as.addi(a0, a1, 77); }},
        {"a call", 2, [](Assembler& as) { as.jal(ra, 4); }},
        {"two instructions of a pair", 4,
         [](Assembler& as) {
             as.mulhu(a2, a0, a1);
             as.mul(a3, a0, a1);
         }},
        {"a pair with its second half cut", 6,
         [](Assembler& as) {
             as.lui(a0, 0x12345);
             as.addiw(a0, a0, 0x123);
         }},
        {"three additions behind two that fuse already", 8,
         [](Assembler& as) {
             as.add(a0, a1, a2);
             as.sltu(a3, a0, a1);
             as.add(a3, a3, a4);
         }},
        {"five instructions, four of them before the end", 16,
         [](Assembler& as) {
             as.add(a0, a0, a1);
             as.sltu(a1, a0, a1);
             as.add(a0, a0, a2);
             as.sltu(a2, a0, a2);
             as.or_(a1, a1, a2);
         }},
    };
}

/// Code whose straddling sequence stands in a loop: through it, map the next page, through it
/// again.
Case straddling_case(const Straddling& sequence, const Variant& variant, const std::string& backend)
{
    Assembler as{page_end - sequence.bytes_before - 8};
    as.addi(s2, s2, 1);
    as.nop();
    sequence.write(as);
    as.li(a0, 0);
    as.exit_with_a0();
    const auto code = as.code();
    const auto split = code.begin() + static_cast<std::ptrdiff_t>(page_end - as.base());

    RandomProgram program{.code_begin = as.base(), .code_end = as.here()};
    program.late = {.address = page_end, .bytes = {split, code.end()}};
    program.late.other_bytes = program.late.bytes;
    for (std::uint8_t reg = 1; reg < isa::register_count; ++reg)
        program.registers[reg] = ~std::uint64_t{reg} << 3;
    std::vector<std::byte> page(as.base() - first_page);
    page.insert(page.end(), code.begin(), split);
    program.elf = build({.entry = as.base(), .segments = {{.bytes = std::move(page)}}});
    GuestCalls calls{.late = program.late};
    Program loaded = Program::from_elf(program.elf).value();
    return {.seed = 0,
            .variant = variant,
            .backend = backend,
            .program = std::move(program),
            .calls = std::move(calls),
            .loaded = std::move(loaded)};
}

TEST_P(Overlay, forgets_what_the_page_end_refused)
{
    for (const Straddling& sequence : straddling_sequences())
        for (const Variant& variant : all_variants()) {
            SCOPED_TRACE(sequence.name);
            const Case made = straddling_case(sequence, variant, GetParam());
            auto machine = made.machine();
            ASSERT_TRUE(machine);
            ModelMachine model{*machine, made.calls};

            // The shared code of the program has seen the page end before the page behind it.
            const Exit refused = machine->run();
            EXPECT_EQ(refused.error.code, ErrorCode::mem_write_on_executable_page);
            EXPECT_EQ(refused.error.address, page_end / page_size);
            const Exit model_refused = model.run();
            ASSERT_TRUE(
                same(capture(model, model_refused), capture(*machine, refused), made, "before"));

            auto late = made.machine();
            ASSERT_TRUE(map_late_code(late->memory(), made.calls.late, 2));
            ModelMachine late_model{*late, made.calls};
            const Exit wanted = late_model.run();
            EXPECT_EQ(wanted.reason, Exit::Reason::exited) << to_text(wanted);
            ASSERT_TRUE(same(capture(late_model, wanted), capture(*late, late->run()), made,
                             "a second machine, which has the page from the beginning"));

            ASSERT_TRUE(map_late_code(machine->memory(), made.calls.late, 2));
            ASSERT_TRUE(map_late_code(model.memory(), made.calls.late, 2));
            machine->set_pc(made.program.code_begin);
            model.set_pc(made.program.code_begin);
            const Exit again = model.run();
            ASSERT_TRUE(same(capture(model, again), capture(*machine, machine->run()), made,
                             "the first machine, which was refused before"));

            // A third machine has the program's pages alone.
            auto third = made.machine();
            EXPECT_EQ(to_text(third->run()), to_text(refused)) << made.name();
        }
}

INSTANTIATE_TEST_SUITE_P(All, Overlay, testing::ValuesIn(backend_names()), parameter_name);
}  // namespace
}  // namespace mopvm::test
