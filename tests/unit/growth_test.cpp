// SPDX-License-Identifier: MIT
// What the host spends: nothing for machines that are gone, and a bounded part for the decoded form
// of the worst programs.

#include "code/code_view.hpp"
#include "machine/backend.hpp"
#include "machine/program.hpp"
#include "memory/mapping.hpp"
#include "support/allocation_counter.hpp"
#include "support/guest.hpp"
#include "support/poison.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <fstream>
#include <iostream>
#include <string>
#include <string_view>
#include <vector>

namespace mopvm::test
{
namespace
{
/// Pages of the process: its address space, and those that the host has backed.
struct HostPages
{
    std::int64_t mapped = 0;
    std::int64_t resident = 0;

    static HostPages now()
    {
        HostPages pages;
        std::ifstream{"/proc/self/statm"} >> pages.mapped >> pages.resident;
        return pages;
    }
};

class EveryEngine : public testing::TestWithParam<std::string_view>
{
protected:
    [[nodiscard]] static std::string engine() { return std::string{GetParam()}; }
};

class Growth : public EveryEngine
{};

/// Files of guests that end in different ways: an exit, an undecodable instruction, the limit, and
/// a file that cannot be loaded.
std::vector<std::vector<std::byte>> guests()
{
    Assembler exits;
    exits.li(a1, data_address);
    exits.sd(a1, 0, a1);
    exits.exit(0);
    Assembler stops;
    stops.half(0);
    Assembler loops;
    const auto loop = loops.label();
    loops.bind(loop);
    loops.j(loop);
    ElfFile outside = program(exits);
    outside.segments[1].vaddr = max_memory_size;
    return {build(program(exits)), build(program(stops)), build(program(loops)), build(outside)};
}

/// One life: parsed, created, loaded, run and destroyed.
void live(const std::vector<std::byte>& file, const std::string& engine)
{
    const auto parsed = Program::from_elf(file);
    auto machine =
        Machine::create({.max_cycles = 100, .memory_size = 2 * min_memory_size, .backend = engine});
    ASSERT_TRUE(parsed && machine);
    if (machine->load(*parsed))
        static_cast<void>(machine->run());
}

TEST_P(Growth, does_not_come_from_machines_that_are_gone)
{
    constexpr int warm_up = 1'000;
    constexpr int rounds = 100'000;
    const auto files = guests();
    const std::string name = engine();
    Allocations allocated;
    HostPages pages;
    for (int i = 0; i < warm_up + rounds; ++i) {
        if (i == warm_up) {
            allocated = allocations;
            pages = HostPages::now();
        }
        live(files[static_cast<std::size_t>(i) % files.size()], name);
    }
    EXPECT_EQ(allocations.live, allocated.live);
    EXPECT_EQ(allocations.live_bytes, allocated.live_bytes);
    EXPECT_GT(allocations.made, allocated.made + rounds) << "nothing is counted";
#if !defined(MOPVM_POISON)  // it keeps what was freed
    const HostPages after = HostPages::now();
    constexpr std::int64_t slack = 64;  // less than three bytes a round
    EXPECT_LE(after.mapped, pages.mapped + slack);
    EXPECT_LE(after.resident, pages.resident + slack);
#endif
}

TEST_P(Growth, does_not_come_from_configurations_that_are_new)
{
    Assembler code;
    code.nop();
    code.exit(0);
    const Program program = Program::from_elf(build(test::program(code))).value();
    const auto loaded = [&](std::uint32_t price) {
        Machine machine =
            Machine::create({.cost_model = CostModel::standard().with("addi", price).value(),
                             .backend = engine()})
                .value();
        EXPECT_TRUE(machine.load(program));
        return machine;
    };
    // Loaded now and run once the program has forgotten its decoded code.
    Machine first = loaded(0);
    std::int64_t live = 0;
    for (std::uint32_t price = 1; price <= 3 * max_shared_images; ++price) {
        if (price == max_shared_images + 1)
            live = allocations.live;
        const Exit exit = loaded(price).run();
        EXPECT_EQ(name(exit.reason), "exited");
        EXPECT_EQ(exit.cycles, 3 * price + 500);
    }
    EXPECT_EQ(allocations.live, live);
    EXPECT_EQ(first.run().cycles, 500U);
}

/// Code that is repeated all over a page, eight halfwords at a time.
struct WorstCode
{
    std::string_view name;
    std::array<std::uint16_t, 8> halfwords;
};

constexpr std::array<std::uint16_t, 8> everywhere(std::uint16_t halfword)
{
    std::array<std::uint16_t, 8> all{};
    all.fill(halfword);
    return all;
}

constexpr std::uint16_t c_nop = 0x0001;
constexpr std::uint16_t c_branch = 0xc411;    // c.beqz s0, 12 bytes on
constexpr std::uint16_t c_jump = 0xa001;      // c.j, to itself
constexpr std::uint16_t c_return = 0x8082;    // c.jr ra
constexpr std::uint16_t c_call = 0x9082;      // c.jalr ra
constexpr std::uint16_t c_constant = 0x6505;  // c.lui a0, 1
// What decodes from its second halfword on, too: jal t5, as a jump; amominu.w a1,zero,(a0), as a
// branch.
constexpr std::uint16_t jal_low = 0x0f6f;
constexpr std::uint16_t jal_high = 0xa001;
constexpr std::uint16_t amo_low = 0x25af;
constexpr std::uint16_t amo_high = 0xc005;

constexpr std::array worst_codes{
    WorstCode{"nothing to do", everywhere(c_nop)},
    WorstCode{"constants", everywhere(c_constant)},
    WorstCode{"branches", everywhere(c_branch)},
    WorstCode{"jumps", everywhere(c_jump)},
    WorstCode{"returns", everywhere(c_return)},
    WorstCode{"calls through a register", everywhere(c_call)},
    WorstCode{"calls",
              {jal_low, jal_high, jal_low, jal_high, jal_low, jal_high, jal_low, jal_high}},
    WorstCode{"atomics over branches",
              {amo_low, amo_high, amo_low, amo_high, amo_low, amo_high, amo_low, amo_high}},
    WorstCode{"a run and a branch",
              {c_nop, c_nop, c_nop, c_nop, c_nop, c_nop, c_constant, c_branch}},
    WorstCode{
        "a branch in between",
        {c_constant, c_branch, c_constant, c_branch, c_constant, c_branch, c_constant, c_branch}},
};

constexpr std::uint64_t worst_begin = 0x20000;
/// Many pages, so that what is not theirs matters little.
constexpr std::uint64_t worst_pages = 16;
constexpr std::uint64_t worst_halfwords = worst_pages * page_size / 2;

std::vector<std::byte> bytes_of(const WorstCode& code)
{
    std::vector<std::byte> bytes;
    for (std::uint64_t i = 0; i < worst_halfwords; ++i) {
        const std::uint16_t halfword = code.halfwords[i % code.halfwords.size()];
        bytes.push_back(static_cast<std::byte>(halfword & 0xff));
        bytes.push_back(static_cast<std::byte>(halfword >> 8));
    }
    return bytes;
}

/// Takes all chunks that the process keeps, so that others must be allocated.
void take_kept_chunks(code::Storage& storage)
{
    constexpr std::size_t chunks = code::Storage::max_kept_bytes / code::Storage::chunk_bytes;
    for (std::size_t i = 0; i < chunks; ++i) {
        constexpr std::size_t whole = code::Storage::chunk_bytes - code::Storage::alignment;
        static_cast<void>(storage.reserve(whole));
        storage.commit(whole);
    }
}

class DecodedForm : public EveryEngine
{
protected:
    /// Checks what @p what takes, and says it.
    static void expect_bounded(std::string_view what, std::size_t decoded, std::int64_t of_host)
    {
        constexpr std::size_t code_bytes = worst_pages * page_size;
        std::cout << GetParam() << ", " << what << ": " << decoded / code_bytes
                  << " bytes per byte of code, " << of_host / std::int64_t{code_bytes}
                  << " of the host\n";
        EXPECT_LE(decoded, worst_pages * code::max_page_bytes);
        EXPECT_LE(of_host, std::int64_t{worst_pages * code::max_page_bytes});
    }
};

/// Each halfword is entered, in ascending, descending and mixed order.
TEST_P(DecodedForm, is_bounded_when_every_halfword_is_entered)
{
    const Backend& backend = **find_backend(engine());
    for (const WorstCode& worst : worst_codes) {
        auto mapping = memory::Mapping::create(default_memory_size, Version::v2);
        ASSERT_TRUE(mapping);
        const memory::Space& space = mapping->space();
        ASSERT_TRUE(Memory{mapping->space()}.init_pages(worst_begin, worst_pages * page_size,
                                                        page_flag::executable, bytes_of(worst), 0));
        const auto pages = code::executable_pages(space);
        for (const bool counting : {false, true}) {
            const code::CodeConfig config =
                code::code_config({.isa_a = true}, backend.format(counting));
            std::size_t most = 0;
            std::int64_t most_of_host = 0;
            for (const std::uint64_t step :
                 {std::uint64_t{1}, worst_halfwords - 1, std::uint64_t{2 * 7919 + 1}})
            {
                code::Storage kept;
                take_kept_chunks(kept);
                const std::int64_t before = allocations.live_bytes;
                code::CodeImage image{config, pages};
                for (std::uint64_t i = 0; i < worst_halfwords; ++i) {
                    const std::uint64_t pc = worst_begin + i * step % worst_halfwords * 2;
                    memory::Fault fault;
                    ASSERT_TRUE(image.build(pc, space, fault) != nullptr ||
                                pc + 2 == worst_begin + worst_pages * page_size);
                }
                most = std::max(most, image.decoded_bytes());
                most_of_host = std::max(most_of_host, allocations.live_bytes - before);
            }
            expect_bounded(std::string{worst.name} + (counting ? ", counted" : ""), most,
                           most_of_host);
        }
    }
}

/// The same by a guest, which calls every halfword.
TEST_P(DecodedForm, is_bounded_when_a_guest_calls_every_halfword)
{
    for (const std::uint16_t returns : {c_return, c_call}) {
        Assembler code;
        code.li(s0, worst_begin);
        code.li(s1, worst_begin + worst_pages * page_size);
        const auto loop = code.bound_label();
        code.jalr(ra, 0, s0);
        code.addi(s0, s0, 2);
        code.bltu(s0, s1, loop);
        code.exit(0);
        ElfFile file = program(code);
        file.segments[1] = {.vaddr = worst_begin,
                            .bytes = bytes_of({.name = {}, .halfwords = everywhere(returns)})};
        const Program parsed = Program::from_elf(build(file)).value();
        Machine machine = Machine::create({.backend = engine()}).value();
        ASSERT_TRUE(machine.load(parsed));
        code::Storage kept;
        take_kept_chunks(kept);
        const std::int64_t before = allocations.live_bytes;
        const Exit exit = machine.run();
        ASSERT_EQ(name(exit.reason), "exited") << message(exit.error);
        const std::int64_t taken = allocations.live_bytes - before;
        EXPECT_GT(taken, std::int64_t{worst_halfwords}) << "they were not entered";
        expect_bounded("a guest", static_cast<std::size_t>(taken), taken);
    }
}

INSTANTIATE_TEST_SUITE_P(All, Growth, testing::ValuesIn(backends()), [](const auto& test) {
    return std::string{test.param};
});
INSTANTIATE_TEST_SUITE_P(All, DecodedForm, testing::ValuesIn(backends()), [](const auto& test) {
    return std::string{test.param};
});
}  // namespace
}  // namespace mopvm::test
