// SPDX-License-Identifier: MIT
// Faults that RISC-V machines are known to have had with arithmetic, alone and fused, in every
// configuration.

#include "support/guest.hpp"

namespace
{
using namespace mopvm;
using namespace mopvm::test;

constexpr std::uint64_t minus_one = ~std::uint64_t{0};
constexpr std::uint64_t int64_min = std::uint64_t{1} << 63;
constexpr std::uint64_t sext32(std::uint32_t value)
{
    return static_cast<std::uint64_t>(std::int64_t{static_cast<std::int32_t>(value)});
}

class PitfallsArithmetic : public EveryConfig
{};
MOPVM_ALL_CONFIGS(PitfallsArithmetic);

TEST_P(PitfallsArithmetic, x0_as_destination_inside_fused_sequences)
{
    Assembler a;
    const auto bad = a.label();
    // Reads x0 where no engine knows its value beforehand, as they do in branches.
    a.sub(s0, a0, a0);
    const auto expect_x0_to_be_0 = [&] {
        a.sltu(t1, s0, zero);
        a.bnez(t1, bad);
    };
    a.li(a0, minus_one);
    a.li(a1, minus_one);
    a.mulhu(a3, a0, a1);
    a.mul(zero, a0, a1);
    expect_x0_to_be_0();
    a.mulhu(zero, a0, a1);
    a.mul(a3, a0, a1);
    expect_x0_to_be_0();
    a.check(a3, 1, 2);
    a.mulhu(a3, a0, a1);  // equal destinations: not fused, the low word wins
    a.mul(a3, a0, a1);
    a.check(a3, 1, 3);
    a.li(a4, 10);
    a.li(a5, 3);
    a.div(a3, a4, a5);
    a.rem(zero, a4, a5);
    expect_x0_to_be_0();
    a.check(a3, 3, 4);
    a.div(zero, a4, a5);
    a.rem(a3, a4, a5);
    expect_x0_to_be_0();
    a.check(a3, 1, 5);
    a.li(a1, minus_one);
    a.li(a2, 2);
    a.add(a0, a1, a2);
    a.sltu(zero, a0, a1);
    expect_x0_to_be_0();
    a.check(a0, 1, 6);
    a.sub(a0, a2, a1);
    a.sltu(zero, a2, a1);
    expect_x0_to_be_0();
    a.check(a0, 3, 7);
    a.sub(zero, a2, a1);
    a.sltu(a3, a2, a1);
    expect_x0_to_be_0();
    a.check(a3, 1, 8);
    a.add(a0, a1, a2);
    a.sltu(zero, a0, a1);
    a.add(zero, zero, a2);
    expect_x0_to_be_0();
    a.add(a0, a1, a2);
    a.sltu(a3, a0, a1);
    a.add(zero, a3, a2);
    expect_x0_to_be_0();
    a.check(a3, 1, 9);
    a.lui(zero, 0x12345);
    a.addiw(zero, zero, 7);
    expect_x0_to_be_0();
    a.auipc(zero, 1);
    a.addi(zero, zero, 7);
    expect_x0_to_be_0();
    a.exit(0);
    a.bind(bad);
    a.exit(1);
    expect_exit(run(a, config()), 0);
}

TEST_P(PitfallsArithmetic, lui_addiw_wraps_at_32_bits_and_lui_addi_does_not)
{
    struct Constant
    {
        std::uint32_t high;
        std::int32_t low;
        std::uint64_t value;
    };
    Assembler a;
    int code = 1;
    for (const auto& [high, low, value] :
         {Constant{0x80000, -1, 0x7fffffff}, Constant{0x7ffff, -1, 0x7fffefff},
          Constant{0x80000, 0, 0xffffffff80000000}, Constant{0xfffff, 2047, sext32(0xfffff7ff)}})
    {
        a.lui(t0, high);
        a.addiw(t0, t0, low);
        a.check(t0, value, code++);
    }
    a.lui(t0, 0x80000);
    a.addi(t0, t0, -1);
    a.check(t0, 0xffffffff7fffffff, code);
    a.exit(0);
    expect_exit(run(a, config()), 0);
}

TEST_P(PitfallsArithmetic, division_corner_cases)
{
    Assembler a;
    int code = 1;
    const auto expect = [&](Reg rd, std::uint64_t value) { a.check(rd, value, code++); };
    a.li(a0, 7);
    a.li(a1, 0);
    a.li(a2, int64_min);
    a.li(a3, minus_one);
    a.li(a4, 0x1234567880000000);
    a.li(a5, 0x500000000);
    a.div(t0, a0, a1);
    expect(t0, minus_one);
    a.divu(t0, a0, a1);
    expect(t0, minus_one);
    a.rem(t0, a0, a1);
    expect(t0, 7);
    a.remu(t0, a0, a1);
    expect(t0, 7);
    a.div(t0, a2, a3);
    expect(t0, int64_min);
    a.rem(t0, a2, a3);
    expect(t0, 0);
    a.divw(t0, a4, a1);
    expect(t0, minus_one);
    a.divuw(t0, a4, a1);
    expect(t0, minus_one);
    a.remw(t0, a4, a1);
    expect(t0, sext32(0x80000000));
    a.remuw(t0, a4, a1);
    expect(t0, sext32(0x80000000));
    a.divw(t0, a4, a3);
    expect(t0, sext32(0x80000000));
    a.remw(t0, a4, a3);
    expect(t0, 0);
    a.divw(t0, a0, a5);
    expect(t0, minus_one);
    a.remuw(t0, a0, a5);
    expect(t0, 7);
    a.div(t1, a0, a1);
    a.rem(t2, a0, a1);
    expect(t1, minus_one);
    expect(t2, 7);
    a.divu(t1, a0, a1);
    a.remu(t2, a0, a1);
    expect(t1, minus_one);
    expect(t2, 7);
    a.div(t1, a2, a3);
    a.rem(t2, a2, a3);
    expect(t1, int64_min);
    expect(t2, 0);
    a.mv(t3, a0);
    a.rem(t3, t3, a1);
    expect(t3, 7);
    a.div(zero, a0, a1);
    a.remw(zero, a2, a3);
    expect(zero, 0);
    a.exit(0);
    expect_exit(run(a, config()), 0);
}

TEST_P(PitfallsArithmetic, word_forms_sign_extend)
{
    Assembler a;
    int code = 1;
    const auto expect = [&](Reg rd, std::uint64_t value) { a.check(rd, value, code++); };
    const auto operands = [&](std::uint64_t rs1, std::uint64_t rs2) {
        a.li(a0, rs1);
        a.li(a1, rs2);
    };
    operands(1, minus_one);
    a.mulw(t0, a0, a1);
    expect(t0, minus_one);
    operands(0xffffffff, 0xffffffff);
    a.mulw(t0, a0, a1);
    expect(t0, 1);
    operands(0x10000, 0x10000);
    a.mulw(t0, a0, a1);
    expect(t0, 0);
    operands(0x8000, 0x10000);
    a.mulw(t0, a0, a1);
    expect(t0, sext32(0x80000000));
    operands(1, 1);
    a.rorw(t0, a0, a1);
    expect(t0, sext32(0x80000000));
    operands(1, 31);
    a.rolw(t0, a0, a1);
    expect(t0, sext32(0x80000000));
    a.roriw(t0, a0, 1);
    expect(t0, sext32(0x80000000));
    operands(0x80000001, 1);
    a.rolw(t0, a0, a1);
    expect(t0, 3);
    operands(0xffffffff00000001, 0);
    a.rorw(t0, a0, a1);
    expect(t0, 1);
    a.roriw(t0, a0, 0);
    expect(t0, 1);
    operands(0xffffffff00000001, 32);
    a.rolw(t0, a0, a1);
    expect(t0, 1);
    a.li(a0, 0x180000000);
    a.sraiw(t0, a0, 31);
    expect(t0, minus_one);
    a.srliw(t0, a0, 31);
    expect(t0, 1);
    a.li(a0, minus_one);
    a.clzw(t0, a0);
    expect(t0, 0);
    a.li(a0, 0xffffffff00000000);
    a.clzw(t0, a0);
    expect(t0, 32);
    a.ctzw(t0, a0);
    expect(t0, 32);
    a.cpopw(t0, a0);
    expect(t0, 0);
    a.exit(0);
    expect_exit(run(a, config()), 0);
}

TEST_P(PitfallsArithmetic, set_less_than_immediates)
{
    Assembler a;
    a.li(s0, 0);
    a.li(s1, 64);
    const auto again = a.bound_label();
    for (const std::int32_t imm : {1, -1}) {
        a.slti(t0, zero, imm);
        a.add(s0, s0, t0);
        a.sltiu(t0, zero, imm);
        a.add(s0, s0, t0);
    }
    a.addi(s1, s1, -1);
    a.bnez(s1, again);
    a.check(s0, 192, 1);
    a.li(a0, 0x100000000);
    a.sltiu(t0, a0, -1);
    a.check(t0, 1, 2);
    a.li(a0, 0xffffffff);
    a.sltiu(t0, a0, -2048);
    a.check(t0, 1, 3);
    a.li(a0, minus_one);
    a.sltiu(t0, a0, -1);
    a.check(t0, 0, 4);
    a.exit(0);
    expect_exit(run(a, config()), 0);
}
}  // namespace
