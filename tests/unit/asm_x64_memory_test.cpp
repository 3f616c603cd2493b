// SPDX-License-Identifier: MIT
// Accesses by emitted code at the edges: every kind of page beside every other, and the last bytes
// of memory.

#include "unit/asm_x64_machines.hpp"

#include <array>
#include <functional>
#include <string>
#include <vector>

namespace mopvm::test
{
namespace
{
/// An access of a1 or to a1 at the address in a0.
struct Access
{
    const char* name;
    void (*write)(Assembler&);
    std::uint64_t length;
};

constexpr std::array stores{
    Access{"sb", [](Assembler& a) { a.sb(a1, 0, a0); }, 1},
    Access{"sh", [](Assembler& a) { a.sh(a1, 0, a0); }, 2},
    Access{"sw", [](Assembler& a) { a.sw(a1, 0, a0); }, 4},
    Access{"sd", [](Assembler& a) { a.sd(a1, 0, a0); }, 8},
};

constexpr std::array loads{
    Access{"lb", [](Assembler& a) { a.lb(a1, 0, a0); }, 1},
    Access{"lbu", [](Assembler& a) { a.lbu(a1, 0, a0); }, 1},
    Access{"lh", [](Assembler& a) { a.lh(a1, 0, a0); }, 2},
    Access{"lhu", [](Assembler& a) { a.lhu(a1, 0, a0); }, 2},
    Access{"lw", [](Assembler& a) { a.lw(a1, 0, a0); }, 4},
    Access{"lwu", [](Assembler& a) { a.lwu(a1, 0, a0); }, 4},
    Access{"ld", [](Assembler& a) { a.ld(a1, 0, a0); }, 8},
};

constexpr std::array atomics{
    Access{"lr.w", [](Assembler& a) { a.lr_w(a1, a0); }, 4},
    Access{"lr.d", [](Assembler& a) { a.lr_d(a1, a0); }, 8},
    Access{"sc.d", [](Assembler& a) { a.sc_d(a2, a1, a0); }, 8},
    Access{"amoadd.w", [](Assembler& a) { a.amoadd_w(a2, a1, a0); }, 4},
    Access{"amoadd.d", [](Assembler& a) { a.amoadd_d(a2, a1, a0); }, 8},
};

constexpr std::uint64_t pattern_of_bytes = 0x8877'6655'4433'2211;

/// A program that makes @p access twice, with a little before and behind it.
Program accessing(const Access& access)
{
    Assembler a;
    for (int i = 0; i < 2; ++i) {
        a.addi(s2, s2, 1);
        access.write(a);
        a.addi(s3, s3, 1);
    }
    a.exit(0);
    return parsed(program(a));
}

/// What a page may be to a store.
struct PageKind
{
    const char* name;
    bool is_writable;
    void (*make)(Memory memory, std::uint64_t address);
};

constexpr std::uint8_t byte_in_pages = 0x99;

void init(Memory memory, std::uint64_t address, std::uint8_t flags, bool with_bytes)
{
    const std::vector<std::byte> bytes(with_bytes ? page_size : 0, std::byte{byte_in_pages});
    ASSERT_TRUE(memory.init_pages(address, page_size, flags, bytes, 0));
}

constexpr std::array page_kinds{
    PageKind{"never written", true, [](Memory, std::uint64_t) {}},
    PageKind{"dirty", true,
             [](Memory memory, std::uint64_t address) {
                 ASSERT_TRUE(memory.fill(address, page_size, std::byte{byte_in_pages}));
             }},
    PageKind{"frozen", true,
             [](Memory memory, std::uint64_t address) {
                 init(memory, address, page_flag::frozen, false);
             }},
    PageKind{"frozen with bytes", true,
             [](Memory memory, std::uint64_t address) {
                 init(memory, address, page_flag::frozen, true);
             }},
    PageKind{"executable", false,
             [](Memory memory, std::uint64_t address) {
                 init(memory, address, page_flag::executable, true);
             }},
    PageKind{"executable and frozen", false,
             [](Memory memory, std::uint64_t address) {
                 init(memory, address, page_flag::executable | page_flag::frozen, true);
             }},
};

/// A machine of @p program with two pages of those kinds behind one another.
Machine with_pages(const Program& program,
                   const Config& config,
                   std::uint64_t first_page,
                   const PageKind& first,
                   const PageKind& second)
{
    Machine machine = loaded(program, config);
    first.make(machine.memory(), first_page);
    second.make(machine.memory(), first_page + page_size);
    machine.set_reg(a1, pattern_of_bytes);
    return machine;
}

TEST(AsmStores, see_what_kinds_of_pages_they_touch)
{
    constexpr std::uint64_t first_page = 0x20000;
    constexpr std::uint64_t boundary = first_page + page_size;
    const Config config = asm_config();
    for (const Access& store : stores) {
        const Program program = accessing(store);
        for (const PageKind& first : page_kinds)
            for (const PageKind& second : page_kinds)
                for (std::uint64_t before = 0; before <= 9; ++before) {
                    const std::uint64_t address = boundary - before;
                    Machine machine = with_pages(program, config, first_page, first, second);
                    Machine reference =
                        with_pages(program, on_reference(config), first_page, first, second);
                    machine.set_reg(a0, address);
                    reference.set_reg(a0, address);
                    ASSERT_TRUE(runs_like(machine, reference))
                        << store.name << ' ' << before << " bytes before the end of a page that is "
                        << first.name << ", behind which one is " << second.name;
                    // Said once more in words.
                    const bool touches_first = before > 0;
                    const bool touches_second = before < store.length;
                    const bool allowed = (!touches_first || first.is_writable) &&
                                         (!touches_second || second.is_writable);
                    ASSERT_EQ(machine.reg(s3), allowed ? 2U : 0U);
                    const auto stored = machine.memory().load<std::uint8_t>(address).value();
                    if (allowed) {
                        ASSERT_EQ(stored, pattern_of_bytes & 0xff);
                        for (const std::uint64_t at : {address, address + store.length - 1})
                            ASSERT_NE(
                                machine.memory().flags(at / page_size).value() & page_flag::dirty,
                                0);
                    } else {
                        ASSERT_NE(stored, pattern_of_bytes & 0xff) << "a refused store wrote";
                    }
                }
    }
}

TEST(AsmStores, leave_pages_alone_that_they_do_not_touch)
{
    constexpr std::uint64_t first_page = 0x20000;
    const Program program = accessing(stores[3]);
    Machine machine = with_pages(program, asm_config(), first_page, page_kinds[0], page_kinds[0]);
    machine.set_reg(a0, first_page + page_size - 8);
    EXPECT_EQ(machine.run().reason, Exit::Reason::exited);
    EXPECT_EQ(machine.memory().flags(first_page / page_size).value(), page_flag::dirty);
    EXPECT_EQ(machine.memory().flags(first_page / page_size + 1).value(), 0);
}

TEST(AsmStores, have_no_fast_way_to_code)
{
    // Its own page: executable, frozen or not, and dirty since it was loaded. The address is
    // aligned, as others have no fast way anywhere.
    Assembler a;
    a.jal(a0, 4);
    ASSERT_EQ(a.here() % 8, 4U);
    a.sd(a1, 4, a0);
    a.exit(0);
    Machine machine = loaded(parsed(program(a)), asm_config());
    const Exit exit = machine.run();
    EXPECT_EQ(exit.error.code, ErrorCode::mem_write_on_executable_page);
    EXPECT_EQ(exit.error.address, a.base() / page_size);
    EXPECT_EQ(exit.pc, a.base() + 4);
}

class AsmLastBytes : public testing::TestWithParam<Version>
{
protected:
    /// Makes @p access at every address around the end of memory, and where addresses wrap.
    static void try_around_the_end(const Access& access)
    {
        Config config = asm_config(GetParam() != Version::v0);
        config.version = GetParam();
        const Program program = accessing(access);
        std::vector<std::uint64_t> addresses{~std::uint64_t{0}, ~std::uint64_t{6},
                                             std::uint64_t{1} << 32, std::uint64_t{1} << 63};
        for (std::uint64_t before = 0; before <= 17; ++before)
            addresses.push_back(config.memory_size + 1 - before);
        for (const std::uint64_t address : addresses) {
            SCOPED_TRACE(std::string{access.name} + " at " + std::to_string(address));
            Machine machine = loaded(program, config);
            Machine reference = loaded(program, on_reference(config));
            for (Machine* each : {&machine, &reference}) {
                each->set_reg(a0, address);
                each->set_reg(a1, pattern_of_bytes);
                const auto written =
                    each->memory().fill(config.memory_size - 16, 16, std::byte{0xe1});
                ASSERT_TRUE(written);
            }
            ASSERT_TRUE(runs_like(machine, reference));
        }
    }
    /// The number of times that @p access is made when it ends @p before_end bytes before the end
    /// of memory.
    static std::uint64_t times_made(const Access& access, std::uint64_t before_end)
    {
        Config config = asm_config(GetParam() != Version::v0);
        config.version = GetParam();
        Machine machine = loaded(accessing(access), config);
        machine.set_reg(a0, config.memory_size - before_end - access.length);
        static_cast<void>(machine.run());
        return machine.reg(s3);
    }
};

TEST_P(AsmLastBytes, can_be_stored)
{
    for (const Access& store : stores) {
        try_around_the_end(store);
        EXPECT_EQ(times_made(store, 0), 2U) << store.name;
    }
}

TEST_P(AsmLastBytes, can_be_loaded_but_for_the_very_last_in_version_0)
{
    for (const Access& load : loads) {
        try_around_the_end(load);
        EXPECT_EQ(times_made(load, 0), GetParam() == Version::v0 ? 0U : 2U) << load.name;
        EXPECT_EQ(times_made(load, 1), 2U) << load.name;
    }
}

TEST_P(AsmLastBytes, can_be_accessed_atomically)
{
    for (const Access& access : atomics)
        try_around_the_end(access);
}

INSTANTIATE_TEST_SUITE_P(All,
                         AsmLastBytes,
                         testing::Values(Version::v0, Version::v1, Version::v2),
                         [](const auto& test) {
                             return "v" + std::to_string(static_cast<int>(test.param));
                         });
}  // namespace
}  // namespace mopvm::test
