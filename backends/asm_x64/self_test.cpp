// SPDX-License-Identifier: MIT
// The start-up test of emitted handlers.

#include "asm_x64/self_test.hpp"

#include "asm_x64/block_writer.hpp"
#include "asm_x64/relations.hpp"
#include "code/code_image.hpp"
#include "semantics/execute.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <memory>
#include <utility>

namespace mopvm::asm_x64
{
namespace
{
using isa::Opcode;
using isa::Operation;
using semantics::Outcome;
using semantics::State;

constexpr std::uint64_t begin_pc = 0x1000;
constexpr std::uint8_t operation_bytes = 4;

/// Registers of the @p position-th operation. What it writes nobody else does, and what it reads
/// nobody writes, unless its token says so.
struct Registers
{
    std::uint8_t rs1, rs2, r3, r4, rd;
};
constexpr Registers registers_of(std::size_t position) noexcept
{
    static_assert(max_sequence_length == 8);
    const auto nth = [&](std::size_t first) { return static_cast<std::uint8_t>(first + position); };
    return {.rs1 = nth(1),
            .rs2 = static_cast<std::uint8_t>(9 + position % 6),
            .r3 = nth(24),
            .r4 = 15,
            .rd = nth(16)};
}

/// Operations that are encoded as the tokens of a sequence.
class OperationMaker
{
public:
    /// The operation of the next token.
    [[nodiscard]] Operation next(Token token) noexcept
    {
        const Operation made = make(token);
        const Encoded encoded = encode(made, begin_pc);
        m_results[m_position] = encoded.result;
        ++m_position;
        if (const Shape of = shape(token.unit);
            of == Shape::load || of == Shape::load_signed || of == Shape::store)
            base_of(token.unit) = made.rs1;
        return made;
    }

private:
    [[nodiscard]] Operation make(Token token) noexcept;
    [[nodiscard]] std::uint8_t& base_of(Unit unit) noexcept
    {
        return m_bases[shape(unit) == Shape::store ? 1 : 0];
    }

    std::size_t m_position = 0;
    std::array<std::uint8_t, max_sequence_length> m_results{};
    std::array<std::uint8_t, 2> m_bases{};  ///< Of the last load and the last store.
};

Operation OperationMaker::make(Token token) noexcept
{
    Registers r = registers_of(m_position);
    if (token.first == Token::same_base)
        r.rs1 = base_of(token.unit);
    else if (token.first != 0)
        r.rs1 = m_results[m_position - token.first];
    if (token.second != 0)
        r.rs2 = m_results[m_position - token.second];
    if (token.over != 0)
        r.rd = m_results[m_position - token.over];
    const auto made = [&](Opcode opcode, std::int32_t imm) {
        return Operation{.opcode = opcode,
                         .length = operation_bytes,
                         .parts = 1,
                         .rd = r.rd,
                         .rs1 = r.rs1,
                         .rs2 = r.rs2,
                         .r3 = r.r3,
                         .r4 = r.r4,
                         .imm = imm,
                         .cost = 1};
    };
    // A target, a displacement, or a shift by fewer than 32; accesses do not hit the same bytes.
    const bool is_access = shape(token.unit) == Shape::load ||
                           shape(token.unit) == Shape::load_signed ||
                           shape(token.unit) == Shape::store;
    const std::int32_t some_immediate =
        24 + (is_access ? 8 * static_cast<std::int32_t>(m_position) : 0);
    constexpr std::int32_t big_immediate = 0x12345000;
    switch (token.unit) {
    case Unit::small_constant:
        r.rs1 = isa::reg_zero;
        return made(Opcode::addi, some_immediate);
    case Unit::move:
        return made(Opcode::addi, 0);
    case Unit::sext_w:
        return made(Opcode::addiw, 0);
    case Unit::beqz:
        r.rs2 = isa::reg_zero;
        return made(Opcode::beq, some_immediate);
    case Unit::bnez:
        r.rs2 = isa::reg_zero;
        return made(Opcode::bne, some_immediate);
    case Unit::bltz:
        r.rs2 = isa::reg_zero;
        return made(Opcode::blt, some_immediate);
    case Unit::bgez:
        r.rs2 = isa::reg_zero;
        return made(Opcode::bge, some_immediate);
    case Unit::go_on:
        r.rd = isa::reg_zero;
        return made(Opcode::jal, some_immediate);
    case Unit::jump_indirect:
        r.rd = isa::reg_zero;
        return made(Opcode::jalr, some_immediate);
    default:
        break;
    }
    const Shape of = shape(token.unit);
    return made(static_cast<Opcode>(token.unit),
                of == Shape::constant || of == Shape::call ? big_immediate : some_immediate);
}

/// What is in the registers.
enum class Values : std::uint8_t
{
    ascending,   ///< Addresses in memory, each greater than the one before.
    descending,  ///< The other way round.
    equal,
    signs,  ///< Big numbers of either sign.
    bits,   ///< Anything.
    words,  ///< Around the borders of 32 bits.
    zero,   ///< The second source is 0.
    least,  ///< The first source is the least number, the second -1.
};
constexpr std::size_t value_kinds = 8;

/// The value of register @p i among @p values.
constexpr std::uint64_t value(Values values, std::uint64_t i) noexcept
{
    constexpr std::uint64_t sign = std::uint64_t{1} << 63;
    const bool is_second = i == registers_of(0).rs2;
    const std::uint64_t scrambled = (i + 1) * 0x9e37'79b9'7f4a'7c15U;
    switch (values) {
    case Values::ascending:
        return page_size + 8 * i;
    case Values::descending:
        return page_size + 8 * (isa::register_count - i);
    case Values::equal:
        return page_size;
    case Values::signs:
        return (scrambled & ~sign) | (is_second ? 0 : sign);
    case Values::bits:
        return scrambled;
    case Values::words:
        return 0x7fff'fffeU + i;
    case Values::zero:
        return is_second ? 0 : scrambled;
    case Values::least:
        return is_second ? ~std::uint64_t{0} : sign;
    }
    std::unreachable();
}

/// A machine's state with sixteen KiB of memory.
class Bench
{
public:
    explicit Bench(const Handlers& handlers) : m_handlers{handlers} {}

    /// True when emitted code does with @p tokens, with registers full of @p values, what the
    /// reference does.
    bool agrees(std::span<const Token> tokens, Values values) noexcept
    {
        std::array<Operation, max_sequence_length> storage;
        OperationMaker maker;
        RelationTracker tracker;
        for (std::size_t i = 0; i < tokens.size(); ++i) {
            storage[i] = maker.next(tokens[i]);
            const Encoded encoded = encode(storage[i], begin_pc + i * operation_bytes);
            if (tracker.next(encoded).token(i) != tokens[i])
                return false;
        }
        const std::span<const Operation> operations = std::span{storage}.first(tokens.size());
        const bool stores = std::ranges::any_of(
            tokens, [](const Token& token) { return shape(token.unit) == Shape::store; });
        const Result emitted = run_emitted(operations, values);
        if (stores)
            *m_emitted_bytes = *m_bytes;
        m_has_stored |= stores;
        const Result wanted = run_reference(operations, values);
        m_has_stored |= stores;
        return emitted == wanted && (!stores || *m_emitted_bytes == *m_bytes);
    }

private:
    static constexpr std::size_t memory_bytes = 4 * page_size;
    static constexpr std::size_t pages = memory_bytes / page_size;
    /// Bytes from the beginning of a page that small registers, and sums of two, point to.
    static constexpr std::size_t reach = 1024;

    /// What a run leaves.
    struct Result
    {
        std::array<std::uint64_t, isa::register_count> x{};
        std::uint64_t pc = 0;  ///< Of the operation that faults, or where it goes on.
        bool faulted = false;

        friend bool operator==(const Result&, const Result&) = default;
    };

    void begin(Values values) noexcept
    {
        m_state = {};
        m_state.memory = {.bytes = m_bytes->data(),
                          .flags = m_flags.data(),
                          .size = memory_bytes,
                          .load_end = memory_bytes};
        m_flags.fill(page_flag::dirty);
        m_flags[1] = 0;  // a first write goes the slow way
        if (m_has_stored) {
            for (std::size_t page = 1; page < pages; ++page)
                std::memset(m_bytes->data() + page * page_size, 0xa5, reach);
            m_has_stored = false;
        }
        for (std::size_t i = 1; i < isa::register_count; ++i)
            m_state.x[i] = value(values, i);
        m_state.pc = begin_pc;
    }

    Result result(bool faulted) noexcept
    {
        Result made{.pc = m_state.pc, .faulted = faulted};
        std::ranges::copy(m_state.x, made.x.begin());
        return made;
    }

    Result run_reference(std::span<const Operation> operations, Values values) noexcept
    {
        begin(values);
        Outcome outcome = Outcome::next;
        for (const Operation& operation : operations) {
            outcome = semantics::execute(m_state, operation);
            if (outcome != Outcome::next)
                break;
        }
        return result(outcome == Outcome::fault);
    }

    Result run_emitted(std::span<const Operation> operations, Values values) noexcept
    {
        begin(values);
        // Behind them a call of the system, unless they go elsewhere.
        std::array<Encoded, max_sequence_length + 1> units;
        std::size_t count = 0;
        std::uint64_t pc = begin_pc;
        for (const Operation& operation : operations) {
            units[count++] = encode(operation, pc);
            pc += operation.length;
        }
        if (!isa::ends_block(operations.back().opcode))
            units[count++] = encode({.opcode = Opcode::ecall}, pc);

        alignas(code::Block) std::array<std::byte, 1024> block{};
        const code::Block head{.pc = begin_pc, .operations = static_cast<std::uint16_t>(count)};
        std::memcpy(block.data(), &head, sizeof(head));
        std::byte* const body = block.data() + sizeof(head);
        std::byte* const end =
            body + write_units(body, std::span{units}.first(count), head, m_no_code, m_handlers);
        // An untaken branch falls into the block behind it.
        std::memcpy(end, &head, sizeof(head));
        const Encoded behind = encode_go_on(pc);
        write_units(end + sizeof(head), {&behind, 1}, head, m_no_code, m_handlers);

        Frame frame = make_frame(m_state, m_no_pause, m_targets, nullptr);
        frame.ip = reinterpret_cast<const Cell*>(body);
        switch (m_handlers.enter(frame)) {
        case Leave::fault:
            m_state.pc = address_of(frame.ip, reinterpret_cast<const Cell*>(body), operations);
            return result(true);
        case Leave::link:
            m_state.pc = link_target(frame.ip);
            break;
        default:
            m_state.pc = frame.pc;
            break;
        }
        return result(false);
    }

    /// The address of the operation whose cells begin at @p ip.
    static std::uint64_t address_of(const Cell* ip,
                                    const Cell* cell,
                                    std::span<const Operation> operations) noexcept
    {
        std::uint64_t pc = begin_pc;
        for (const Operation& operation : operations) {
            const Encoded encoded = encode(operation, pc);
            if (cell == ip && encoded.cell_count != 0)
                break;
            cell += encoded.cell_count;
            pc += operation.length;
        }
        return pc;
    }

    const Handlers& m_handlers;
    State m_state;
    std::unique_ptr<std::array<std::uint8_t, memory_bytes>> m_bytes =
        std::make_unique<std::array<std::uint8_t, memory_bytes>>();
    /// What emitted code left in memory.
    std::unique_ptr<std::array<std::uint8_t, memory_bytes>> m_emitted_bytes =
        std::make_unique<std::array<std::uint8_t, memory_bytes>>();
    bool m_has_stored = true;  ///< Memory is not as it should be when a run begins.
    std::array<std::uint8_t, pages> m_flags{};
    code::TargetCache m_targets;
    const code::CodeImage m_no_code{{}, {}};
    std::atomic<bool> m_no_pause = false;
};
/// Not what leaves by itself, nor what the reference does.
bool is_tested(Unit unit) noexcept
{
    switch (shape(unit)) {
    case Shape::nothing:
    case Shape::leave:
    case Shape::unresolved:
    case Shape::count:
    case Shape::semantic:
        return false;
    default:
        return true;
    }
}
}  // namespace

std::string self_test(const Handlers& handlers, std::span<const Sequence> sequences)
{
    Bench bench{handlers};
    for (std::size_t i = 1; i < unit_count; ++i) {
        const Token token{.unit = static_cast<Unit>(i)};
        if (!is_tested(token.unit))
            continue;
        for (std::size_t kind = 0; kind < value_kinds; ++kind) {
            if (!bench.agrees({&token, 1}, static_cast<Values>(kind)))
                return "the emitted handler of " + std::string{name(token.unit)} +
                       " gives a wrong result on this processor";
        }
    }
    for (const Sequence& sequence : sequences) {
        if (!bench.agrees(sequence.span(), Values::ascending)) {
            std::string names;
            for (const Token& token : sequence.span())
                names += ' ' + std::string{name(token.unit)};
            return "the emitted handler of the sequence" + names +
                   " gives a wrong result on this processor";
        }
    }
    return {};
}
}  // namespace mopvm::asm_x64
