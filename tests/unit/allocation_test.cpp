// SPDX-License-Identifier: MIT
// Running allocates nothing once the code has been decoded.

#include "support/allocation_counter.hpp"
#include "support/guest.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <optional>

namespace mopvm::test
{
namespace
{
constexpr std::int32_t own_call = 500;

/// Answers `own_call` and nothing else.
class OwnCalls final : public SyscallHandler
{
public:
    Result<void> initialize(Machine& /*machine*/) noexcept override { return {}; }
    Result<SyscallAnswer> handle(Machine& machine) noexcept override
    {
        return machine.reg(a7) == own_call ? SyscallAnswer::handled() : SyscallAnswer::not_mine();
    }
};

/// Loads, stores, a wide product that fuses, calls and system calls, 500 times over.
Program busy_program()
{
    Assembler code;
    const auto function = code.label();
    const auto loop = code.label();
    code.li(s0, data_address);
    code.li(s1, 500);
    code.bind(loop);
    code.ld(t0, 0, s0);
    code.addi(t1, t0, 7);
    code.mulhu(t2, t0, t1);
    code.mul(t3, t0, t1);
    code.sd(t3, 0, s0);
    code.sd(t2, 4092, s0);
    code.jal(ra, function);
    code.li(a7, own_call);
    code.ecall();
    code.addi(s1, s1, -1);
    code.bnez(s1, loop);
    code.exit(0);
    code.bind(function);
    code.ret();
    return Program::from_elf(build(program(code))).value();
}

class Allocation : public EveryConfig
{
protected:
    Allocation()
    {
        EXPECT_TRUE(m_machine.add_syscalls(std::make_shared<OwnCalls>()));
        restart();
        m_cycles = run_to_the_end();
    }

    /// The machine as before its first run; what was decoded then is still there.
    void restart()
    {
        ASSERT_TRUE(m_machine.reset(config().max_cycles));
        ASSERT_TRUE(m_machine.load(m_program));
    }

    /// @return the cycles of the run.
    std::uint64_t run_to_the_end()
    {
        const Exit exit = m_machine.run();
        EXPECT_EQ(name(exit.reason), "exited");
        return exit.cycles;
    }

    /// The same, one operation after another.
    std::uint64_t step_to_the_end()
    {
        std::optional<Exit> exit;
        while (!exit)
            exit = m_machine.step();
        EXPECT_EQ(name(exit->reason), "exited");
        return exit->cycles;
    }

    Program m_program = busy_program();
    Machine m_machine = Machine::create(config()).value();
    std::uint64_t m_cycles = 0;  ///< Of a whole run.
};

TEST(AllocationCount, grows_with_every_form_of_new)
{
    const std::size_t before = allocations.made;
    ::operator delete(::operator new(1));
    ::operator delete(::operator new(1, std::align_val_t{64}), std::align_val_t{64});
    ::operator delete[](::operator new[](1, std::nothrow));
    EXPECT_EQ(allocations.made - before, 3);
}

TEST_P(Allocation, does_not_happen_in_a_run_of_decoded_code)
{
    restart();
    const std::size_t before = allocations.made;
    const std::uint64_t cycles = run_to_the_end();
    EXPECT_EQ(allocations.made - before, 0);
    EXPECT_EQ(cycles, m_cycles);
}

TEST_P(Allocation, does_not_happen_when_the_limit_stops_a_run)
{
    restart();
    m_machine.set_max_cycles(m_cycles / 2);
    const std::size_t before = allocations.made;
    const Exit exit = m_machine.run();
    m_machine.set_max_cycles(m_cycles);
    const std::uint64_t cycles = run_to_the_end();
    EXPECT_EQ(allocations.made - before, 0);
    EXPECT_EQ(name(exit.error.code), "cycles_exceeded");
    EXPECT_EQ(cycles, m_cycles);
}

TEST_P(Allocation, does_not_happen_in_single_steps)
{
    restart();
    const std::size_t before = allocations.made;
    const std::uint64_t cycles = step_to_the_end();
    EXPECT_EQ(allocations.made - before, 0);
    EXPECT_EQ(cycles, m_cycles);
}

MOPVM_ALL_CONFIGS(Allocation);
}  // namespace
}  // namespace mopvm::test
