// SPDX-License-Identifier: MIT
// Every operation and every sequence, emitted, next to the reference: with any registers, x0 and
// the same ones included, on any values, faults included.

#include "unit/asm_x64_bench.hpp"

#include "asm_x64/sequences.hpp"
#include "support/assembler.hpp"

#include <algorithm>
#include <iostream>

namespace mopvm::test
{
namespace
{
using asm_x64::Handlers;
using asm_x64::HostFeatures;
using asm_x64::Sequence;
using asm_x64::Unit;
using isa::Opcode;
using isa::Operation;

constexpr std::uint64_t seed = 20'240'601;

/// For whom handlers are emitted.
struct Subject
{
    Version version = Version::v0;
    HostFeatures features;
};

/// The handlers that a process has, or such as use nothing that not every processor has. They count
/// how often each of them runs.
class CountedHandlers
{
public:
    explicit CountedHandlers(const HostFeatures& features)
        : m_handlers{
              Handlers::emit(asm_x64::chosen_sequences(), {.features = features, .runs = m_runs})
                  .value()}
    {}

    [[nodiscard]] const Handlers& operator*() const { return m_handlers; }
    [[nodiscard]] std::uint64_t runs_of(Unit unit) const { return m_runs[index(unit)]; }
    [[nodiscard]] std::uint64_t runs_of_sequence(std::size_t i) const
    {
        return m_runs[asm_x64::unit_count + i];
    }

private:
    std::vector<std::uint64_t> m_runs =
        std::vector<std::uint64_t>(asm_x64::unit_count + asm_x64::chosen_sequences().size());
    Handlers m_handlers;
};

/// An operation with registers out of few, and x0 among them, or out of all.
Operation any_operation(Opcode opcode, Choices& choices)
{
    const bool few = choices.one_in(2);
    const auto reg = [&] {
        return few ? choices.one_of<std::uint8_t>({zero, zero, ra, a0, a1, t6})
                   : static_cast<std::uint8_t>(choices.below(isa::register_count));
    };
    Operation made = operation(opcode, reg(), reg(), reg(), encodable_immediate(opcode, choices));
    if (isa::is_fused(opcode)) {
        made.r3 = reg();
        made.r4 = reg();
    }
    if (choices.one_in(4))
        made.imm = 0;
    return made;
}

/// With the system call behind it that ends its block.
std::vector<Operation> block_of(std::vector<Operation> operations)
{
    if (!isa::ends_block(operations.back().opcode))
        operations.push_back(operation(Opcode::ecall));
    return operations;
}

std::string text_of(std::span<const Operation> operations)
{
    std::string text;
    for (const Operation& each : operations) {
        text += std::string{isa::traits(each.opcode).mnemonic} + " rd x" + std::to_string(each.rd) +
                " rs1 x" + std::to_string(each.rs1) + " rs2 x" + std::to_string(each.rs2) +
                " r3 x" + std::to_string(each.r3) + " r4 x" + std::to_string(each.r4) + " imm " +
                std::to_string(each.imm) + '\n';
    }
    return text;
}

class AsmOperations : public testing::TestWithParam<Subject>
{
protected:
    void expect_the_same(const std::vector<Operation>& operations)
    {
        const BlockOutcome wanted = m_bench.reference(operations);
        const BlockOutcome got = m_bench.emitted(operations);
        ASSERT_EQ(difference(wanted, got), "") << text_of(operations);
    }

    CountedHandlers m_handlers{GetParam().features};
    BlockBench m_bench{*m_handlers, GetParam().version};
    Choices m_choices{seed};
};

TEST_P(AsmOperations, do_what_the_reference_does)
{
    std::cout << "seed " << seed << '\n';
    for (std::size_t i = 1; i < isa::opcode_count; ++i) {
        for (int n = 0; n < 250; ++n) {
            m_bench.fill_registers(m_choices);
            m_bench.fill_flags(m_choices);
            expect_the_same(block_of({any_operation(static_cast<Opcode>(i), m_choices)}));
            if (testing::Test::HasFailure())
                return;
        }
    }
    for (std::size_t i = 1; i < asm_x64::unit_count; ++i) {
        const auto unit = static_cast<Unit>(i);
        // What counts blocks is in none of these.
        const bool should_run = has_handler(unit) && unit != Unit::count;
        EXPECT_EQ(m_handlers.runs_of(unit) != 0, should_run) << name(unit);
    }
}

TEST_P(AsmOperations, do_it_behind_one_another)
{
    std::cout << "seed " << seed << '\n';
    for (int n = 0; n < 6'000; ++n) {
        m_bench.fill_registers(m_choices);
        m_bench.fill_flags(m_choices);
        std::vector<Operation> operations;
        const std::size_t count = 1 + m_choices.below(12);
        while (operations.size() < count) {
            const auto opcode = static_cast<Opcode>(1 + m_choices.below(isa::opcode_count - 1));
            operations.push_back(any_operation(opcode, m_choices));
            if (isa::ends_block(opcode))
                break;
        }
        expect_the_same(block_of(std::move(operations)));
        if (testing::Test::HasFailure())
            return;
    }
}

/// Registers that are bases of accesses in @p operations hold addresses of data, mostly: else
/// nearly every block would end with its first access.
void point_to_data(BlockBench& bench, std::span<const Operation> operations, Choices& choices)
{
    for (const Operation& each : operations) {
        const auto format = isa::traits(each.opcode).format;
        const bool is_base = format == isa::Format::load || format == isa::Format::store;
        if (is_base && each.rs1 != zero && !choices.one_in(12))
            bench.registers[each.rs1] =
                BlockBench::data + page_size + choices.below(512) * (choices.one_in(4) ? 1U : 8U);
    }
}

TEST_P(AsmOperations, do_it_in_every_chosen_sequence)
{
    std::cout << "seed " << seed << '\n';
    for (const Sequence& sequence : asm_x64::chosen_sequences()) {
        for (int n = 0; n < 40; ++n) {
            m_bench.fill_registers(m_choices);
            m_bench.fill_flags(m_choices);
            std::vector<Operation> operations = operations_of(sequence.span(), m_choices);
            ASSERT_FALSE(operations.empty());
            point_to_data(m_bench, operations, m_choices);
            expect_the_same(block_of(std::move(operations)));
            if (testing::Test::HasFailure())
                return;
        }
        const auto i = static_cast<std::size_t>(&sequence - asm_x64::chosen_sequences().data());
        EXPECT_GT(m_handlers.runs_of_sequence(i), 0U) << "sequence " << i;
    }
}

/// Code for sequences of any units that may be in one: few registers, so that it has all kinds of
/// relations.
class CodeForSequences
{
public:
    explicit CodeForSequences(Choices& choices) : m_choices{choices}
    {
        Choices probe{seed};
        for (std::size_t i = 1; i < asm_x64::unit_count; ++i) {
            const auto unit = static_cast<Unit>(i);
            // Not those of operations that are always encoded as others.
            if (can_be_in_sequence(shape(unit)) &&
                asm_x64::encode(operation_of(unit, probe), block_pc).unit == unit)
                m_units.push_back(unit);
        }
    }

    /// The same code, with other registers where @p like is given.
    std::vector<Operation> make(std::span<const Operation> like = {})
    {
        std::vector<Operation> operations;
        const std::size_t length =
            like.empty() ? 2 + m_choices.below(asm_x64::max_sequence_length - 1) : like.size();
        while (operations.size() < length) {
            Operation made =
                like.empty() ? operation_of(unit(), m_choices) : like[operations.size()];
            for (std::uint8_t* reg : {&made.rd, &made.rs1, &made.rs2, &made.r3, &made.r4}) {
                if (*reg != zero)
                    *reg = m_choices.one_of<std::uint8_t>({a0, a0, a1, a2, a3, a4, a5});
            }
            if (is_access(asm_x64::encode(made, block_pc).unit))
                made.rs1 = m_choices.one_of<std::uint8_t>({a0, a0, a5});
            operations.push_back(made);
            if (isa::ends_block(made.opcode))
                break;
        }
        return operations;
    }

private:
    Unit unit()
    {
        // Accesses are what faults, and addresses are what is kept.
        return m_choices.one_in(3) ? m_choices.one_of({Unit::ld, Unit::sd, Unit::lbu, Unit::sw})
                                   : m_choices.one_of(m_units);
    }

    Choices& m_choices;
    std::vector<Unit> m_units;
};

/// Sequences that nobody chose, so that the emitter is right whatever is chosen next; and other
/// code that becomes the same units, for which the matcher may choose them too.
TEST_P(AsmOperations, do_it_in_any_sequence)
{
    std::cout << "seed " << seed << '\n';
    CodeForSequences code{m_choices};
    std::vector<Sequence> sequences;
    std::vector<std::vector<Operation>> blocks;
    while (sequences.size() < 1'500) {
        const std::vector<Operation> made = code.make();
        const auto tokens = tokens_of(made);
        if (tokens.size() < 2)
            continue;
        Sequence sequence;
        std::ranges::copy(tokens, sequence.tokens.begin());
        sequence.length = static_cast<std::uint8_t>(tokens.size());
        sequences.push_back(sequence);
        blocks.push_back(made);
        for (int i = 0; i < 3; ++i)
            blocks.push_back(code.make(made));
    }
    const auto handlers = Handlers::emit(sequences, {.features = GetParam().features});
    ASSERT_TRUE(handlers) << handlers.error();
    BlockBench bench{*handlers, GetParam().version};
    std::size_t in_sequences = 0;
    for (const std::vector<Operation>& operations : blocks) {
        const std::vector<Operation> block = block_of(operations);
        const auto cells = bench.handlers_of(block);
        in_sequences += cells[0] != handlers->of_unit(tokens_of(block)[0].unit) ? 1U : 0U;
        for (int n = 0; n < 8; ++n) {
            bench.fill_registers(m_choices);
            bench.fill_flags(m_choices);
            point_to_data(bench, operations, m_choices);
            const BlockOutcome wanted = bench.reference(block);
            ASSERT_EQ(difference(wanted, bench.emitted(block)), "") << text_of(block);
        }
    }
    EXPECT_GT(in_sequences, sequences.size());
    EXPECT_LT(in_sequences, blocks.size());
}

INSTANTIATE_TEST_SUITE_P(All,
                         AsmOperations,
                         testing::Values(Subject{Version::v0, HostFeatures::of_this_host()},
                                         Subject{Version::v2, HostFeatures::of_this_host()},
                                         Subject{Version::v2, HostFeatures{}}),
                         [](const auto& test) {
                             const bool plain = test.param.features == HostFeatures{};
                             return "v" + std::to_string(static_cast<int>(test.param.version)) +
                                    (plain ? "_any_processor" : "_this_processor");
                         });
}  // namespace
}  // namespace mopvm::test
