// SPDX-License-Identifier: MIT
// Superinstructions: the matcher, the chosen table, and what blocks are made of.

#include "unit/asm_x64_bench.hpp"

#include "asm_x64/sequences.hpp"
#include "support/assembler.hpp"

#include <algorithm>
#include <array>
#include <set>
#include <sstream>

namespace mopvm::test
{
namespace
{
using asm_x64::Handlers;
using asm_x64::Sequence;
using asm_x64::SequenceMatcher;
using asm_x64::Token;
using asm_x64::Unit;
using isa::Opcode;
using isa::Operation;

Sequence sequence_of(const std::vector<Token>& tokens)
{
    Sequence made;
    std::ranges::copy(tokens, made.tokens.begin());
    made.length = static_cast<std::uint8_t>(tokens.size());
    return made;
}

std::string names_of(const Sequence& sequence)
{
    std::ostringstream out;
    for (const Token& token : sequence.span()) {
        PrintTo(token, &out);
        out << ' ';
    }
    return out.str();
}

constexpr std::uint16_t none = SequenceMatcher::no_sequence;

/// The sequence that @p tokens are found to be.
std::uint16_t found(const SequenceMatcher& matcher, const std::vector<Token>& tokens)
{
    SequenceMatcher::Walk walk{matcher};
    for (const Token& token : tokens) {
        if (!walk.advance(token))
            return none;
    }
    return walk.longest().length == tokens.size() ? walk.longest().sequence : none;
}

const Token addi{.unit = Unit::addi};
const Token add{.unit = Unit::add};
const Token ld{.unit = Unit::ld};
const Token sd{.unit = Unit::sd};

Token from(Token token, std::uint8_t first, std::uint8_t second = 0)
{
    token.first = first;
    token.second = second;
    return token;
}
Token over(Token token, std::uint8_t distance)
{
    token.over = distance;
    return token;
}

TEST(AsmSequenceMatcher, finds_nothing_among_none)
{
    EXPECT_EQ(found(SequenceMatcher{}, {addi}), none);
    EXPECT_EQ(found(SequenceMatcher{{}}, {addi}), none);
    EXPECT_EQ(SequenceMatcher::Walk{SequenceMatcher{}}.longest().sequence, none);
    EXPECT_EQ(SequenceMatcher::Walk{SequenceMatcher{}}.longest().length, 1);
}

TEST(AsmSequenceMatcher, tells_sequences_from_their_prefixes)
{
    const SequenceMatcher matcher{
        std::vector{sequence_of({addi, ld}), sequence_of({addi, ld, add, sd})}};
    EXPECT_EQ(found(matcher, {addi}), none);
    EXPECT_EQ(found(matcher, {addi, ld}), 0);
    EXPECT_EQ(found(matcher, {addi, ld, add}), none);
    EXPECT_EQ(found(matcher, {addi, ld, add, sd}), 1);
    EXPECT_EQ(found(matcher, {addi, ld, add, sd, sd}), none);
    EXPECT_EQ(found(matcher, {ld, addi}), none);
    EXPECT_EQ(found(matcher, {addi, add}), none);
}

TEST(AsmSequenceMatcher, keeps_the_longest_on_its_way)
{
    const SequenceMatcher matcher{std::vector{sequence_of({addi, ld, add, sd, sd}),
                                              sequence_of({addi, ld}),
                                              sequence_of({addi, ld, add, ld})}};
    SequenceMatcher::Walk walk{matcher};
    const auto advance = [&](const Token& token) {
        EXPECT_TRUE(walk.advance(token));
        return std::pair<int, int>{walk.longest().sequence, walk.longest().length};
    };
    EXPECT_EQ(advance(addi), std::pair(int{none}, 1));
    EXPECT_EQ(advance(ld), std::pair(1, 2));
    EXPECT_EQ(advance(add), std::pair(1, 2));
    EXPECT_EQ(advance(sd), std::pair(1, 2));
    EXPECT_FALSE(walk.advance(add));
    EXPECT_EQ(walk.longest().length, 2);
    EXPECT_EQ(advance(sd), std::pair(0, 5));
}

TEST(AsmSequenceMatcher, reads_from_memory_what_no_sequence_has_in_a_host_register)
{
    const SequenceMatcher matcher{std::vector{sequence_of({addi, ld}), sequence_of({ld, add})}};
    EXPECT_EQ(found(matcher, {addi, from(ld, 1)}), 0);
    EXPECT_EQ(found(matcher, {ld, from(add, 1)}), 1);
    EXPECT_EQ(found(matcher, {ld, from(add, 0, 1)}), 1);
    EXPECT_EQ(found(matcher, {ld, from(add, 1, 1)}), 1);
}

TEST(AsmSequenceMatcher, prefers_host_registers)
{
    const SequenceMatcher matcher{
        std::vector{sequence_of({ld, add}), sequence_of({ld, from(add, 1)}),
                    sequence_of({ld, from(add, 0, 1)}), sequence_of({ld, from(add, 1, 1)})}};
    EXPECT_EQ(found(matcher, {ld, add}), 0);
    EXPECT_EQ(found(matcher, {ld, from(add, 1)}), 1);
    EXPECT_EQ(found(matcher, {ld, from(add, 0, 1)}), 2);
    EXPECT_EQ(found(matcher, {ld, from(add, 1, 1)}), 3);
}

TEST(AsmSequenceMatcher, has_one_of_two_sources_in_a_host_register)
{
    const SequenceMatcher first{std::vector{sequence_of({ld, ld, from(add, 2)})}};
    const SequenceMatcher second{std::vector{sequence_of({ld, ld, from(add, 0, 1)})}};
    for (const SequenceMatcher* matcher : {&first, &second})
        EXPECT_EQ(found(*matcher, {ld, ld, from(add, 2, 1)}), 0);
}

TEST(AsmSequenceMatcher, reads_no_host_register_that_holds_something_else)
{
    const SequenceMatcher matcher{std::vector{sequence_of({addi, from(ld, 1)}),
                                              sequence_of({ld, from(ld, Token::same_base)}),
                                              sequence_of({add, add, from(add, 2, 1)})}};
    EXPECT_EQ(found(matcher, {addi, ld}), none);
    EXPECT_EQ(found(matcher, {ld, ld}), none);
    EXPECT_EQ(found(matcher, {ld, from(ld, 1)}), none);
    EXPECT_EQ(found(matcher, {add, add, from(add, 1, 2)}), none);
    EXPECT_EQ(found(matcher, {add, add, from(add, 2)}), none);
}

TEST(AsmSequenceMatcher, stores_what_no_sequence_leaves_out)
{
    const SequenceMatcher matcher{std::vector{sequence_of({addi, addi})}};
    EXPECT_EQ(found(matcher, {addi, over(addi, 1)}), 0);
    EXPECT_EQ(found(matcher, {addi, over(from(addi, 1), 1)}), 0);
}

TEST(AsmSequenceMatcher, leaves_out_no_result_that_is_not_replaced)
{
    const SequenceMatcher matcher{
        std::vector{sequence_of({addi, over(addi, 1)}), sequence_of({add, addi, over(add, 2)})}};
    EXPECT_EQ(found(matcher, {addi, addi}), none);
    EXPECT_EQ(found(matcher, {addi, over(addi, 1)}), 0);
    EXPECT_EQ(found(matcher, {add, addi, over(add, 1)}), none);
}

TEST(AsmSequenceMatcher, leaves_out_no_result_that_is_read_from_memory)
{
    // addi a0; sd a0; addi a0: the store reads what the third would let the first leave out.
    const SequenceMatcher matcher{std::vector{sequence_of({addi, sd, over(addi, 2)})}};
    EXPECT_EQ(found(matcher, {addi, sd, over(addi, 2)}), 0);
    EXPECT_EQ(found(matcher, {addi, from(sd, 0, 1), over(addi, 2)}), none);
    EXPECT_EQ(found(matcher, {addi, from(sd, 1), over(addi, 2)}), none);
    // Reading a base again reads no result.
    const SequenceMatcher bases{std::vector{sequence_of({addi, ld, sd, over(addi, 3)})}};
    EXPECT_EQ(found(bases, {addi, ld, from(sd, Token::same_base), over(addi, 3)}), 0);
}

/// The walk, once more: tries what a token may also be, in the same order, on sets of prefixes.
class WalkModel
{
public:
    explicit WalkModel(const std::vector<Sequence>& sequences)
    {
        for (const Sequence& sequence : sequences) {
            std::vector<Key> prefix;
            for (const Token& token : sequence.span()) {
                prefix.push_back(key(token));
                m_prefixes.insert(prefix);
            }
            m_members.insert(prefix);
        }
    }
    bool is_member(const std::vector<Token>& tokens) const
    {
        std::vector<Key> prefix;
        bool reads_memory = false;
        for (const Token& token : tokens) {
            bool taken = false;
            for (const std::uint8_t over : {token.over, std::uint8_t{0}})
                for (const std::uint8_t second : {token.second, std::uint8_t{0}})
                    for (const std::uint8_t first : {token.first, std::uint8_t{0}}) {
                        const bool from_memory =
                            second != token.second ||
                            (first != token.first && token.first != Token::same_base);
                        // What is left out must be read from no memory, now or before.
                        if (taken ||
                            (over != 0 && (reads_memory || from_memory || first != token.first)))
                            continue;
                        prefix.push_back(key({token.unit, first, second, over}));
                        taken = m_prefixes.contains(prefix);
                        if (taken)
                            reads_memory |= from_memory;
                        else
                            prefix.pop_back();
                    }
            if (!taken)
                return false;
        }
        return m_members.contains(prefix);
    }

private:
    using Key = std::array<int, 4>;
    static Key key(const Token& token)
    {
        return {static_cast<int>(token.unit), token.first, token.second, token.over};
    }
    std::set<std::vector<Key>> m_prefixes;
    std::set<std::vector<Key>> m_members;
};

/// What sequences of a test are made of.
struct Alphabet
{
    std::vector<Unit> units;
    std::size_t shortest;  ///< Units of a sequence at least.
};

/// Few units, so that sequences have prefixes in common.
Alphabet few_units()
{
    return {.units = {Unit::addi, Unit::add, Unit::ld, Unit::sd}, .shortest = 2};
}

/// All of them, and as many as can be, so that sequences have little in common.
Alphabet all_units()
{
    Alphabet all{.units = {}, .shortest = asm_x64::max_sequence_length};
    for (std::size_t i = 1; i < asm_x64::unit_count; ++i) {
        const auto unit = static_cast<Unit>(i);
        if (can_be_in_sequence(shape(unit)) && !transfers(shape(unit)))
            all.units.push_back(unit);
    }
    return all;
}

/// Makes as many sequences as there may be and holds the matcher against the model.
void expect_exactly_its_members(const Alphabet& alphabet, std::size_t likely_members)
{
    Choices choices{20'240'601};
    const auto any_tokens = [&] {
        std::vector<Token> tokens;
        const std::size_t length =
            alphabet.shortest + choices.below(asm_x64::max_sequence_length - alphabet.shortest + 1);
        while (tokens.size() < length) {
            const auto distance = [&](std::uint64_t most) {
                return static_cast<std::uint8_t>(
                    choices.one_in(3) ? choices.below(1 + std::min(tokens.size(), most)) : 0);
            };
            Token token{.unit = alphabet.units[choices.below(alphabet.units.size())]};
            token.first = distance(asm_x64::max_distance);
            token.second = distance(asm_x64::max_distance);
            token.over = distance(asm_x64::max_distance);
            if (!tokens.empty() && choices.one_in(6))
                token.first = Token::same_base;
            tokens.push_back(token);
        }
        return tokens;
    };
    std::vector<Sequence> sequences;
    std::set<std::string> names;
    while (sequences.size() < SequenceMatcher::max_sequences) {
        const Sequence made = sequence_of(any_tokens());
        if (names.insert(names_of(made)).second)
            sequences.push_back(made);
    }
    const SequenceMatcher matcher{sequences};
    const WalkModel model{sequences};
    for (std::size_t i = 0; i < sequences.size(); ++i) {
        const std::span tokens = sequences[i].span();
        const std::vector<Token> same{tokens.begin(), tokens.end()};
        ASSERT_EQ(found(matcher, same) != none, model.is_member(same)) << names_of(sequences[i]);
    }
    std::size_t members = 0;
    for (int i = 0; i < 40'000; ++i) {
        const std::vector<Token> tokens = any_tokens();
        ASSERT_EQ(found(matcher, tokens) != none, model.is_member(tokens))
            << names_of(sequence_of(tokens));
        members += model.is_member(tokens) ? 1U : 0U;
    }
    EXPECT_GE(members, likely_members);
}

TEST(AsmSequenceMatcher, knows_exactly_its_members_among_thousands)
{
    expect_exactly_its_members(few_units(), 100);
}

TEST(AsmSequenceMatcher, has_numbers_for_as_many_of_the_longest_as_there_may_be)
{
    expect_exactly_its_members(all_units(), 0);
}

TEST(AsmChosenSequences, are_sound)
{
    const std::span chosen = asm_x64::chosen_sequences();
    EXPECT_FALSE(chosen.empty());
    EXPECT_LE(chosen.size(), SequenceMatcher::max_sequences);
    for (const Sequence& sequence : chosen) {
        SCOPED_TRACE(names_of(sequence));
        ASSERT_GE(sequence.length, 2);
        ASSERT_LE(sequence.length, asm_x64::max_sequence_length);
        for (std::size_t i = 0; i < sequence.length; ++i) {
            const Token& token = sequence.tokens[i];
            EXPECT_NE(token.unit, Unit::invalid);
            EXPECT_TRUE(can_be_in_sequence(shape(token.unit)));
            const bool is_last = i + 1U == sequence.length;
            EXPECT_TRUE(is_last || !transfers(shape(token.unit))) << "only the last may";
            EXPECT_TRUE(token.first <= i || (token.first == Token::same_base && i > 0));
            EXPECT_LE(token.second, i);
            EXPECT_LE(token.over, i);
        }
    }
}

TEST(AsmChosenSequences, are_all_different)
{
    std::set<std::string> seen;
    for (const Sequence& sequence : asm_x64::chosen_sequences())
        EXPECT_TRUE(seen.insert(names_of(sequence)).second) << names_of(sequence);
}

TEST(AsmChosenSequences, are_chosen_for_the_code_that_they_are_made_for)
{
    const auto& handlers = asm_x64::handlers();
    ASSERT_TRUE(handlers) << handlers.error();
    BlockBench bench{*handlers};
    Choices choices{1};
    const std::span chosen = asm_x64::chosen_sequences();
    for (std::size_t i = 0; i < chosen.size(); ++i) {
        const Sequence& sequence = chosen[i];
        SCOPED_TRACE(names_of(sequence));
        std::vector<Operation> operations = operations_of(sequence.span(), choices);
        ASSERT_EQ(operations.size(), sequence.length) << "no code becomes this";
        // Behind it a system call, unless it goes elsewhere.
        if (!isa::ends_block(operations.back().opcode))
            operations.push_back(operation(Opcode::ecall));
        const auto cells = bench.handlers_of(operations);
        ASSERT_GE(cells.size(), sequence.length);
        EXPECT_EQ(cells[0], handlers->of_sequence(static_cast<std::uint16_t>(i)));
        // Whoever begins at another of them runs it singly.
        for (std::size_t j = 1; j < sequence.length; ++j)
            EXPECT_EQ(cells[j], handlers->of_unit(sequence.tokens[j].unit));
    }
}

/// Blocks with sequences of the tests' own.
class AsmBlocks : public testing::Test
{
protected:
    /// What the cells of @p operations do, by the names of units; a sequence by its number.
    std::vector<std::string> written(std::span<const Operation> operations)
    {
        std::vector<std::string> names;
        for (const std::uint32_t handler : m_bench.handlers_of(operations))
            names.push_back(name_of(handler));
        return names;
    }
    using Names = std::vector<std::string>;

private:
    std::string name_of(std::uint32_t handler) const
    {
        for (std::uint16_t i = 0; i < m_sequences.size(); ++i) {
            if (handler == m_handlers.of_sequence(i))
                return "sequence " + std::to_string(i);
        }
        for (std::size_t i = 1; i < asm_x64::unit_count; ++i) {
            if (handler == m_handlers.of_unit(static_cast<Unit>(i)))
                return std::string{name(static_cast<Unit>(i))};
        }
        return "nothing";
    }

    const std::vector<Sequence> m_sequences{
        sequence_of({addi, addi}),
        sequence_of({addi, addi, addi, ld}),
        sequence_of({add, from(ld, 1)}),
        sequence_of({sd, {.unit = Unit::go_on}}),
        sequence_of({{.unit = Unit::sub}, {.unit = Unit::bnez}}),
    };
    const Handlers m_handlers = Handlers::emit(m_sequences).value();
    BlockBench m_bench{m_handlers};
};

constexpr Operation leave{.opcode = Opcode::ecall, .length = 4, .parts = 1};

Operation increment(Reg reg)
{
    const auto number = static_cast<std::uint8_t>(reg);
    return operation(Opcode::addi, number, number, 0, 1);
}

TEST_F(AsmBlocks, have_the_longest_sequence_at_each_place)
{
    const std::array four{increment(a0), increment(a1), increment(a2),
                          operation(Opcode::ld, a0, sp), leave};
    EXPECT_EQ(written(four), (Names{"sequence 1", "addi", "addi", "ld", "ecall"}));
    // A prefix of it that leads no further.
    const std::array other{increment(a0), increment(a1), increment(a2),
                           operation(Opcode::lw, a0, sp), leave};
    EXPECT_EQ(written(other), (Names{"sequence 0", "addi", "addi", "lw", "ecall"}));
}

TEST_F(AsmBlocks, go_on_behind_a_sequence)
{
    const std::array five{increment(a0), increment(a1), increment(a0),
                          increment(a1), increment(a0), leave};
    EXPECT_EQ(written(five), (Names{"sequence 0", "addi", "sequence 0", "addi", "addi", "ecall"}));
}

TEST_F(AsmBlocks, hand_a_result_only_to_who_reads_it)
{
    const std::array reads{operation(Opcode::add, a0, a1, a2), operation(Opcode::ld, a3, a0),
                           leave};
    EXPECT_EQ(written(reads), (Names{"sequence 2", "ld", "ecall"}));
    const std::array reads_another{operation(Opcode::add, a0, a1, a2),
                                   operation(Opcode::ld, a3, a1), leave};
    EXPECT_EQ(written(reads_another), (Names{"add", "ld", "ecall"}));
    // Nobody reads x0 from a host register: nothing was written to it.
    const std::array reads_zero{operation(Opcode::ld, zero, a1), operation(Opcode::ld, a3, zero),
                                leave};
    EXPECT_EQ(written(reads_zero), (Names{"ld", "ld", "ecall"}));
}

TEST_F(AsmBlocks, match_across_operations_that_do_nothing)
{
    const std::array with_nops{operation(Opcode::fence), increment(a0),
                               operation(Opcode::addi, zero, zero), increment(a1), leave};
    EXPECT_EQ(written(with_nops), (Names{"sequence 0", "addi", "ecall"}));
}

TEST_F(AsmBlocks, end_with_sequences_that_go_elsewhere)
{
    const std::array jump{operation(Opcode::sd, 0, sp, a0), operation(Opcode::jal, zero, 0, 0, 64)};
    EXPECT_EQ(written(jump), (Names{"sequence 3", "go_on"}));
    const std::array branch{operation(Opcode::sub, a0, a1, a2),
                            operation(Opcode::bne, 0, a3, zero, 64)};
    EXPECT_EQ(written(branch), (Names{"sequence 4", "bnez"}));
    // Where a block ends without a transfer, going on is a unit like any other.
    const std::array cut{operation(Opcode::sd, 0, sp, a0)};
    EXPECT_EQ(written(cut), (Names{"sequence 3"}));
}
}  // namespace
}  // namespace mopvm::test
