// SPDX-License-Identifier: MIT
// Faults that RISC-V machines are known to have had with the price of instructions, in every
// configuration.

#include "decoder/decoder.hpp"
#include "support/guest.hpp"

#include <map>
#include <optional>
#include <set>
#include <string>

namespace
{
using namespace mopvm;
using namespace mopvm::test;

class PitfallsMetering : public EveryConfig
{};
MOPVM_ALL_CONFIGS(PitfallsMetering);

/// Answers one system call and does nothing.
class OneCall final : public SyscallHandler
{
public:
    static constexpr std::uint64_t number = 4711;

    Result<void> initialize(Machine&) noexcept override { return {}; }
    Result<SyscallAnswer> handle(Machine& machine) noexcept override
    {
        return machine.reg(a7) == number ? SyscallAnswer::handled() : SyscallAnswer::not_mine();
    }
};

/// True when @p opcode can be decoded by @p version.
bool exists_in(isa::Opcode opcode, Version version)
{
    switch (isa::traits(opcode).versions) {
    case isa::Versions::only_0:
        return version == Version::v0;
    case isa::Versions::from_1:
        return version != Version::v0;
    case isa::Versions::all:
        return true;
    }
    return false;
}

TEST_P(PitfallsMetering, every_instruction_is_charged_its_own_price)
{
    // Every instruction at least once, each with a price of its own; the sum of the prices of what
    // stands at each pc must be the total.
    Assembler a;
    a.li(s2, data_address);
    a.li(a7, OneCall::number);
#define EMIT_none(id) a.id();
#define EMIT_fence(id) a.id();
#define EMIT_upper(id) a.id(t0, 0x12345);
#define EMIT_jump(id) a.id(t0, 4);
#define EMIT_indirect(id) \
    a.jal(t0, 4);         \
    a.id(t1, 4, t0);
#define EMIT_branch(id) a.id(t0, t0, 4);
#define EMIT_load(id) a.id(t2, 8, s2);
#define EMIT_store(id) a.id(t2, 8, s2);
#define EMIT_immediate(id) a.id(t2, t3, 5);
#define EMIT_shift6(id) a.id(t2, t3, 5);
#define EMIT_shift5(id) a.id(t2, t3, 5);
#define EMIT_reg(id) a.id(t2, t3, t4);
#define EMIT_unary(id) a.id(t2, t3);
#define EMIT_reserve(id) a.id(t2, s2);
#define EMIT_atomic(id) a.id(t2, t3, s2);
#define MOPVM_INSTRUCTION(id, mnemonic, format, pattern, extension, cost, flow, versions) \
    if (exists_in(isa::Opcode::id, config().version)) {                                   \
        EMIT_##format(id) a.nop(); /* keeps neighbours from fusing */                     \
    }
#include "isa/opcodes.inc"
    a.exit(0);

    Config priced = config();
    priced.count_operations = true;
    std::map<std::string, std::uint32_t> prices;
    for (std::size_t i = 1; i < isa::opcode_count; ++i) {
        const std::string operation{isa::traits(static_cast<isa::Opcode>(i)).mnemonic};
        prices[operation] = static_cast<std::uint32_t>(1000 + 7 * i);
        priced.cost_model = *priced.cost_model.with(operation, prices[operation]);
    }
    const auto loaded = [&] {
        Machine machine = load(program(a), priced);
        EXPECT_TRUE(machine.add_syscalls(std::make_shared<OneCall>()));
        return machine;
    };

    std::uint64_t total = 0;
    std::set<std::string> seen;
    Machine stepped = loaded();
    for (std::optional<Exit> exit; !exit;) {
        const auto bits = stepped.memory().load<std::uint32_t>(stepped.pc());
        ASSERT_TRUE(bits);
        const isa::Instruction instruction =
            decoder::decode(*bits, {.version = priced.version, .b = true, .a = true});
        const std::string operation{isa::traits(instruction.opcode).mnemonic};
        total += prices.at(operation);
        seen.insert(operation);
        exit = stepped.step();
    }
    Machine machine = loaded();
    const Exit exit = machine.run();
    ASSERT_EQ(name(exit.reason), "exited") << message(exit.error);
    EXPECT_EQ(exit.cycles, total);
    EXPECT_EQ(stepped.cycles(), total);
    EXPECT_EQ(machine.stats().fused, Stats{}.fused);
    EXPECT_EQ(seen.size() + fusion_rule_count, prices.size());
}

TEST(CostModels, price_every_operation)
{
    for (std::size_t i = 1; i < isa::opcode_count; ++i) {
        const std::string_view operation = isa::traits(static_cast<isa::Opcode>(i)).mnemonic;
        EXPECT_GT(*CostModel::standard().cost(operation), 0U) << operation;
        EXPECT_EQ(*CostModel::constant().cost(operation), 1U) << operation;
        EXPECT_EQ(*CostModel::zero().cost(operation), 0U) << operation;
    }
}

TEST_P(PitfallsMetering, self_loop_reaches_any_limit)
{
    Assembler a;
    a.jal(zero, 0);
    for (const std::uint64_t limit : {0U, 1U, 2U, 3U, 4U, 1'000'000U}) {
        Config limited = config();
        limited.max_cycles = limit;
        const Ran ran = run(a, limited);
        expect_error(ran, {.code = ErrorCode::cycles_exceeded});
        EXPECT_EQ(ran.exit.cycles, limit / 3 * 3);
        EXPECT_EQ(ran.exit.pc, a.base());
    }
}
}  // namespace
