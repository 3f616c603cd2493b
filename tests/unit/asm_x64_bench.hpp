// SPDX-License-Identifier: MIT
/// @file
/// Emitted code on single blocks: operations for units, and running them next to the reference.
#pragma once

#include "asm_x64/block_writer.hpp"
#include "asm_x64/handlers.hpp"
#include "asm_x64/relations.hpp"
#include "code/code_image.hpp"
#include "memory/mapping.hpp"
#include "semantics/execute.hpp"
#include "support/choices.hpp"
#include "support/random_sequence.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <ostream>
#include <span>
#include <string>
#include <vector>

namespace mopvm::asm_x64
{
/// How GoogleTest prints what tests compare.
inline void PrintTo(Unit unit, std::ostream* out)
{
    *out << name(unit);
}
inline void PrintTo(const Token& token, std::ostream* out)
{
    *out << name(token.unit) << '(' << int{token.first} << ", " << int{token.second} << ", "
         << int{token.over} << ')';
}
}  // namespace mopvm::asm_x64

namespace mopvm::test
{
/// Where blocks begin.
inline constexpr std::uint64_t block_pc = 0x10000;

/// @p opcode as four bytes of code.
[[nodiscard]] inline isa::Operation operation(isa::Opcode opcode,
                                              std::uint8_t rd = 0,
                                              std::uint8_t rs1 = 0,
                                              std::uint8_t rs2 = 0,
                                              std::int32_t imm = 0)
{
    return {.opcode = opcode,
            .length = 4,
            .parts = isa::traits(opcode).parts,
            .rd = rd,
            .rs1 = rs1,
            .rs2 = rs2,
            .imm = imm};
}

/// An immediate that the encoding of @p opcode can hold.
[[nodiscard]] inline std::int32_t encodable_immediate(isa::Opcode opcode, Choices& choices)
{
    switch (isa::traits(opcode).format) {
    case isa::Format::upper:
        return any_upper(choices);
    case isa::Format::jump:
        return static_cast<std::int32_t>(choices.between(-(1 << 19), (1 << 19) - 1)) * 2;
    case isa::Format::branch:
        return static_cast<std::int32_t>(choices.between(-(1 << 11), (1 << 11) - 1)) * 2;
    case isa::Format::shift6:
        return static_cast<std::int32_t>(choices.below(64));
    case isa::Format::shift5:
        return static_cast<std::int32_t>(choices.below(32));
    case isa::Format::fused:
        return static_cast<std::int32_t>(choices.bits32());
    default:
        return any_immediate(choices);
    }
}

/// The opcode of the operations that become @p unit.
[[nodiscard]] inline isa::Opcode opcode_of(asm_x64::Unit unit)
{
    using asm_x64::Unit;
    using isa::Opcode;
    switch (unit) {
    case Unit::small_constant:
    case Unit::move:
        return Opcode::addi;
    case Unit::sext_w:
        return Opcode::addiw;
    case Unit::beqz:
        return Opcode::beq;
    case Unit::bnez:
        return Opcode::bne;
    case Unit::bltz:
        return Opcode::blt;
    case Unit::bgez:
        return Opcode::bge;
    case Unit::go_on:
        return Opcode::jal;
    case Unit::jump_indirect:
        return Opcode::jalr;
    default:
        return static_cast<Opcode>(unit);
    }
}

/// An operation that is encoded as @p unit, with any registers from 1 to 31.
[[nodiscard]] inline isa::Operation operation_of(asm_x64::Unit unit, Choices& choices)
{
    using asm_x64::Unit;
    const auto any = [&] { return static_cast<std::uint8_t>(choices.between(1, 31)); };
    isa::Operation made = operation(opcode_of(unit), any(), any(), any());
    made.r3 = any();
    made.r4 = any();
    // Neither 0 nor, where that counts, small.
    while (made.imm == 0 || (unit == Unit::lui && made.imm == std::int16_t(made.imm)))
        made.imm = encodable_immediate(made.opcode, choices);
    switch (unit) {
    case Unit::small_constant:
        made.rs1 = isa::reg_zero;
        break;
    case Unit::move:
    case Unit::sext_w:
        made.imm = 0;
        break;
    case Unit::beqz:
    case Unit::bnez:
    case Unit::bltz:
    case Unit::bgez:
        made.rs2 = isa::reg_zero;
        break;
    case Unit::go_on:
    case Unit::jump_indirect:
        made.rd = isa::reg_zero;
        break;
    default:
        break;
    }
    return made;
}

[[nodiscard]] constexpr bool is_access(asm_x64::Unit unit)
{
    const asm_x64::Shape of = shape(unit);
    return of == asm_x64::Shape::load || of == asm_x64::Shape::load_signed ||
           of == asm_x64::Shape::store;
}

/// The tokens that @p operations become when they stand alone.
[[nodiscard]] inline std::vector<asm_x64::Token> tokens_of(
    std::span<const isa::Operation> operations)
{
    std::vector<asm_x64::Token> tokens;
    asm_x64::RelationTracker tracker;
    for (const isa::Operation& each : operations) {
        const asm_x64::Encoded encoded = asm_x64::encode(each, block_pc);
        if (encoded.unit != asm_x64::Unit::invalid)
            tokens.push_back(tracker.next(encoded).token(tokens.size()));
    }
    return tokens;
}

/// Operations that become exactly @p tokens, with any registers. Empty when there are none.
[[nodiscard]] inline std::vector<isa::Operation> operations_of(
    std::span<const asm_x64::Token> tokens,
    Choices& choices)
{
    for (int tries = 0; tries < 2'000; ++tries) {
        std::vector<isa::Operation> operations;
        std::vector<std::uint8_t> results;
        std::array<std::uint8_t, 2> bases{};  // of the last load, and of the last store
        for (const asm_x64::Token& token : tokens) {
            const auto result = [&](std::uint8_t distance) { return *(results.end() - distance); };
            isa::Operation made = operation_of(token.unit, choices);
            std::uint8_t& base = bases[shape(token.unit) == asm_x64::Shape::store ? 1 : 0];
            if (token.first == asm_x64::Token::same_base)
                made.rs1 = base;
            else if (token.first != 0)
                made.rs1 = result(token.first);
            if (token.second != 0)
                made.rs2 = result(token.second);
            if (token.over != 0)
                made.rd = result(token.over);
            if (is_access(token.unit))
                base = made.rs1;
            results.push_back(asm_x64::encode(made, block_pc).result);
            operations.push_back(made);
        }
        if (std::ranges::equal(tokens_of(operations), tokens))
            return operations;
    }
    return {};
}

/// What executing a block left.
struct BlockOutcome
{
    semantics::Outcome outcome = semantics::Outcome::next;
    std::uint64_t pc = 0;
    std::array<std::uint64_t, isa::register_count> x{};
    std::uint64_t reservation = 0;
    std::vector<std::uint8_t> flags{};
    std::uint64_t changed = 0;  ///< A digest of the bytes that are not as they were, and where.

    friend bool operator==(const BlockOutcome&, const BlockOutcome&) = default;
};

/// What differs, a line for each thing; empty when nothing does.
[[nodiscard]] inline std::string difference(const BlockOutcome& wanted, const BlockOutcome& got)
{
    std::string text;
    const auto compare = [&text](const std::string& what, std::uint64_t a, std::uint64_t b) {
        if (a != b)
            text +=
                "  " + what + ": want " + std::to_string(a) + ", got " + std::to_string(b) + '\n';
    };
    compare("outcome", static_cast<std::uint64_t>(wanted.outcome),
            static_cast<std::uint64_t>(got.outcome));
    compare("pc", wanted.pc, got.pc);
    for (std::size_t i = 0; i < wanted.x.size(); ++i)
        compare("x" + std::to_string(i), wanted.x[i], got.x[i]);
    compare("reservation", wanted.reservation, got.reservation);
    for (std::size_t i = 0; i < wanted.flags.size(); ++i)
        compare("flags of page " + std::to_string(i), wanted.flags[i], got.flags[i]);
    compare("bytes", wanted.changed, got.changed);
    return text;
}

/// A machine's state, without code, on which single blocks are executed.
class BlockBench
{
public:
    static constexpr std::uint64_t data = 0x20000;
    static constexpr std::uint64_t data_pages = 3;

    explicit BlockBench(const asm_x64::Handlers& handlers, Version version = Version::v2)
        : m_handlers{handlers}, m_mapping{memory::Mapping::create(min_memory_size, version).value()}
    {
        for (std::uint64_t page = data / page_size; page < data / page_size + data_pages; ++page)
            m_mapping.space().flags[page] = page_flag::dirty;  // not as they shall be
    }
    ~BlockBench()
    {
        // Flags here may say that data has not been written; the next machine gets this memory.
        const memory::Space& space = m_mapping.space();
        std::fill_n(space.flags, space.page_count(), page_flag::dirty);
    }
    BlockBench(const BlockBench&) = delete;
    BlockBench& operator=(const BlockBench&) = delete;

    /// What blocks begin with.
    std::array<std::uint64_t, isa::register_count> registers{};
    std::array<std::uint8_t, data_pages> flags{page_flag::dirty, page_flag::dirty,
                                               page_flag::dirty};

    /// Fills registers: addresses of data, small numbers, and any.
    void fill_registers(Choices& choices)
    {
        for (std::size_t i = 1; i < registers.size(); ++i) {
            const std::uint64_t any = choices.bits64();
            const std::uint64_t bit = std::uint64_t{1} << choices.below(64);
            registers[i] = choices.one_of<std::uint64_t>(
                {data + page_size + choices.below(page_size),
                 data + page_size + 8 * choices.below(64), data + 2 * page_size - choices.below(10),
                 any, any, bit, bit - 1, 0, ~std::uint64_t{0}, std::uint64_t{1} << 63,
                 choices.below(70), min_memory_size - choices.below(20)});
        }
    }

    /// Fills flags: pages that were written before or were not, that are frozen, that are code.
    void fill_flags(Choices& choices)
    {
        for (std::uint8_t& page : flags)
            page = choices.one_of<std::uint8_t>(
                {page_flag::dirty, page_flag::dirty, 0, page_flag::frozen,
                 page_flag::frozen | page_flag::dirty, page_flag::executable | page_flag::dirty});
    }

    /// Emitted code on @p operations, of which the last leaves the block.
    [[nodiscard]] BlockOutcome emitted(std::span<const isa::Operation> operations)
    {
        using asm_x64::Cell;
        begin();
        write(operations);
        m_targets.clear();
        const std::atomic<bool> no_pause = false;
        asm_x64::Frame frame = asm_x64::make_frame(m_state, no_pause, m_targets, nullptr);
        frame.ip = body();
        semantics::Outcome outcome = semantics::Outcome::next;
        switch (m_handlers.enter(frame)) {
        case asm_x64::Leave::fault:
            outcome = semantics::Outcome::fault;
            m_state.pc = address_of(frame.ip, operations);
            break;
        case asm_x64::Leave::link:
            m_state.pc = asm_x64::link_target(frame.ip);
            break;
        case asm_x64::Leave::ecall:
            outcome = semantics::Outcome::ecall;
            m_state.pc = frame.pc;
            break;
        case asm_x64::Leave::ebreak:
            outcome = semantics::Outcome::ebreak;
            m_state.pc = frame.pc;
            break;
        case asm_x64::Leave::indirect:
        case asm_x64::Leave::indirect_call:
            m_state.pc = frame.pc;
            break;
        case asm_x64::Leave::entry:
            ADD_FAILURE() << "a block that costs nothing was refused";
            break;
        }
        return end(outcome);
    }

    /// The reference on the same.
    [[nodiscard]] BlockOutcome reference(std::span<const isa::Operation> operations)
    {
        begin();
        semantics::Outcome outcome = semantics::Outcome::next;
        for (const isa::Operation& each : operations) {
            outcome = semantics::execute(m_state, each);
            if (outcome != semantics::Outcome::next)
                break;
        }
        return end(outcome);
    }

    /// The handlers of the cells that @p operations become, in order.
    [[nodiscard]] std::vector<std::uint32_t> handlers_of(std::span<const isa::Operation> operations)
    {
        write(operations);
        std::vector<std::uint32_t> handlers;
        const asm_x64::Cell* cell = body();
        std::uint64_t pc = block_pc;
        for (const isa::Operation& each : operations) {
            const asm_x64::Encoded encoded = asm_x64::encode(each, pc);
            if (encoded.unit != asm_x64::Unit::invalid)
                handlers.push_back(cell->handler);
            cell += encoded.cell_count;
            pc += each.length;
        }
        return handlers;
    }

private:
    void begin()
    {
        memory::Space& space = m_mapping.space();
        for (std::uint64_t page = 0; page < space.page_count(); ++page) {
            if (space.flags[page] != 0)
                std::memcpy(space.bytes + page * page_size, original(page).data(), page_size);
            space.flags[page] = 0;
        }
        std::ranges::copy(flags, space.flags + data / page_size);
        m_state = {};
        m_state.memory = space;
        std::copy(registers.begin() + 1, registers.end(), m_state.x + 1);
        m_state.pc = block_pc;
        m_state.max_cycles = ~std::uint64_t{0};
    }

    using Page = std::array<std::uint8_t, page_size>;
    /// What page number @p page holds when a block begins.
    static const Page& original(std::uint64_t page)
    {
        static const auto pages = [] {
            std::array<Page, 1 + data_pages> made{};
            for (std::size_t i = 0; i < data_pages * page_size; ++i)
                made[1 + i / page_size][i % page_size] = static_cast<std::uint8_t>(1 + i % 251);
            return made;
        }();
        const std::uint64_t in_data = page - data / page_size;
        return pages[in_data < data_pages ? 1 + in_data : 0];
    }

    BlockOutcome end(semantics::Outcome outcome)
    {
        BlockOutcome made{.outcome = outcome, .pc = m_state.pc, .reservation = m_state.reservation};
        std::ranges::copy(m_state.x, made.x.begin());
        const memory::Space& space = m_state.memory;
        made.flags.assign(space.flags, space.flags + space.page_count());
        for (std::uint64_t page = 0; page < space.page_count(); ++page) {
            const std::uint8_t* const bytes = space.bytes + page * page_size;
            if (std::memcmp(bytes, original(page).data(), page_size) == 0)
                continue;
            for (std::uint64_t i = 0; i < page_size; ++i) {
                if (bytes[i] != original(page)[i])
                    made.changed =
                        (made.changed ^ (page * page_size + i) << 8 ^ bytes[i]) * 0x100000001b3;
            }
        }
        return made;
    }

    void write(std::span<const isa::Operation> operations)
    {
        const code::Block head{.pc = block_pc,
                               .operations = static_cast<std::uint16_t>(operations.size())};
        m_block.assign(
            operations.size() * code::max_operation_bytes + code::max_body_overhead + sizeof(head),
            std::byte{0});
        std::memcpy(m_block.data(), &head, sizeof(head));
        const std::size_t size = asm_x64::write_body(m_block.data() + sizeof(head),
                                                     {.head = head, .operations = operations},
                                                     m_no_code, m_handlers, false);
        EXPECT_LE(size, m_block.size() - sizeof(head));
    }
    [[nodiscard]] const asm_x64::Cell* body() const
    {
        return reinterpret_cast<const asm_x64::Cell*>(m_block.data() + sizeof(code::Block));
    }
    /// The address of the operation whose cells begin at @p ip.
    [[nodiscard]] std::uint64_t address_of(const asm_x64::Cell* ip,
                                           std::span<const isa::Operation> operations) const
    {
        const asm_x64::Cell* cell = body();
        std::uint64_t pc = block_pc;
        for (const isa::Operation& each : operations) {
            const asm_x64::Encoded encoded = asm_x64::encode(each, pc);
            if (cell == ip && encoded.cell_count != 0)
                return pc;
            cell += encoded.cell_count;
            pc += each.length;
        }
        ADD_FAILURE() << "no operation begins where the fault is";
        return 0;
    }

    const asm_x64::Handlers& m_handlers;
    memory::Mapping m_mapping;
    semantics::State m_state;
    code::TargetCache m_targets;
    const code::CodeImage m_no_code{{}, {}};
    std::vector<std::byte> m_block;
};
}  // namespace mopvm::test
