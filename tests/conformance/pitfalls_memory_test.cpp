// SPDX-License-Identifier: MIT
// Faults that RISC-V machines are known to have had with bounds, in every configuration.

#include "support/guest.hpp"

namespace
{
using namespace mopvm;
using namespace mopvm::test;

constexpr std::uint64_t minus_one = ~std::uint64_t{0};

class PitfallsMemory : public EveryConfig
{};
MOPVM_ALL_CONFIGS(PitfallsMemory);

TEST_P(PitfallsMemory, store_across_data_and_text_writes_nothing)
{
    for (const bool written_before : {false, true}) {
        Assembler a{0x10000};
        a.li(t0, 0xfffc);
        a.li(t2, minus_one);
        if (written_before)
            a.sd(t2, -12, t0);
        a.sd(t2, 0, t0);
        Ran ran = run(a, config());
        expect_error(ran, {.code = ErrorCode::mem_write_on_executable_page, .address = 0x10});
        EXPECT_EQ(ran.machine.memory().load<std::uint32_t>(0xfffc), 0U);
        EXPECT_EQ(ran.machine.memory().flags(0xf), page_flag::dirty);
    }
}

struct Access
{
    void (*perform)(Assembler&);  ///< At the address in a1, with a2 stored or a0 loaded.
    std::uint64_t size;
    bool load;  ///< A load instruction: it cannot reach the last byte in version 0.
};

TEST_P(PitfallsMemory, bounds_at_the_last_byte)
{
    constexpr std::uint64_t end = default_memory_size;
    for (const auto& [perform, size, load] :
         {Access{[](Assembler& a) { a.lb(a0, 0, a1); }, 1, true},
          Access{[](Assembler& a) { a.lhu(a0, 0, a1); }, 2, true},
          Access{[](Assembler& a) { a.lw(a0, 0, a1); }, 4, true},
          Access{[](Assembler& a) { a.ld(a0, 0, a1); }, 8, true},
          Access{[](Assembler& a) { a.sb(a2, 0, a1); }, 1, false},
          Access{[](Assembler& a) { a.sh(a2, 0, a1); }, 2, false},
          Access{[](Assembler& a) { a.sw(a2, 0, a1); }, 4, false},
          Access{[](Assembler& a) { a.sd(a2, 0, a1); }, 8, false},
          Access{[](Assembler& a) { a.lr_w(a0, a1); }, 4, false},
          Access{[](Assembler& a) { a.lr_d(a0, a1); }, 8, false},
          Access{[](Assembler& a) { a.sc_d(a0, a2, a1); }, 8, false},
          Access{[](Assembler& a) { a.amoadd_w(a0, a2, a1); }, 4, false},
          Access{[](Assembler& a) { a.amomaxu_d(a0, a2, a1); }, 8, false}})
    {
        for (const std::uint64_t address : {end - size, end - size + 1, end - 1, end, end + 1,
                                            minus_one - size + 1, minus_one - size + 2, minus_one})
        {
            Assembler a;
            a.li(a1, end - page_size);  // whatever remembers the last page is warm
            perform(a);
            a.li(a1, address);
            perform(a);
            a.exit(0);
            const Ran ran = run(a, config());
            const bool fits = address <= end - size;
            if (fits && !(load && config().version == Version::v0 && address + size == end))
                expect_exit(ran, 0);
            else
                expect_error(ran, {.code = ErrorCode::mem_out_of_bound,
                                   .address = address >= end ? address : address + size});
        }
    }

    Assembler wrapping;
    wrapping.li(a1, 0xfffffffffffff800);
    wrapping.lb(a0, 0x7ff, a1);
    expect_error(run(wrapping, config()),
                 {.code = ErrorCode::mem_out_of_bound, .address = minus_one});

    Assembler low;
    low.li(a1, static_cast<std::uint64_t>(-4));
    low.lw(a0, 8, a1);
    low.exit(0);
    expect_exit(run(low, config()), 0);
}
}  // namespace
