// SPDX-License-Identifier: MIT
/// @file
/// Generated guests: mostly legal, and full of what engines get wrong.
#pragma once

#include "decoder/decoder.hpp"
#include "isa/instruction.hpp"
#include "isa/registers.hpp"
#include "support/choices.hpp"
#include "support/elf_builder.hpp"
#include "support/encode.hpp"
#include "support/guest_calls.hpp"
#include "support/random_sequence.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace mopvm::test
{
/// What kind of program to make.
struct ProgramShape
{
    decoder::Isa isa = widest_isa;
    std::size_t pieces = 40;  ///< Instructions, sequences and calls at most.
    /// The code behind the first page end is late code.
    bool late_code = false;
};

/// A program, and the state in which it starts.
struct RandomProgram
{
    std::vector<std::byte> elf{};
    std::array<std::uint64_t, isa::register_count> registers{};  ///< To be set after the load.
    LateCode late{};
    std::uint64_t code_begin = 0;  ///< The entry.
    std::uint64_t code_end = 0;
    std::vector<std::uint64_t> pieces{};  ///< Where each begins, in order; the last is the exit.
    /// With late code: in the page before that of the entry, where a jump to each piece stands.
    std::uint64_t jumps_begin = 0;
    std::uint64_t jump_count = 0;
};

/// The smallest memory: what programs know as its end.
inline constexpr std::uint64_t random_program_memory = min_memory_size;

/// Makes one program out of decisions. Each piece of it can be jumped to; branches go to pieces
/// nearby, now and then to the second halfword of one.
class ProgramGenerator
{
public:
    ProgramGenerator(Choices& choices, const ProgramShape& shape)
        : m_choices{choices}, m_shape{shape}
    {}

    [[nodiscard]] RandomProgram make()
    {
        place_code();
        const std::size_t count = 1 + m_choices.below(m_shape.pieces);
        while (m_piece_starts.size() < count && !m_choices.exhausted()) {
            m_piece_starts.push_back(m_code.size());
            // Half of the programs with late code have it from the beginning.
            if (m_shape.late_code && m_piece_starts.size() == 1 && m_choices.one_in(2))
                write_mapping();
            else
                write_piece();
        }
        m_piece_starts.push_back(m_code.size());
        emit_call(guest_call::exit);
        for (const Fixup& fixup : m_fixups)
            patch(fixup);
        return finish();
    }

private:
    using Instruction = isa::Instruction;
    using Opcode = isa::Opcode;

    static constexpr std::uint64_t data_begin = 0x20000;
    static constexpr std::uint64_t data_pages = 3;
    static constexpr std::uint64_t read_only_begin = 0x28000;

    /// Hold addresses of data and are rarely written; x8, x9, x14, x15 serve compressed accesses.
    static constexpr std::array<std::uint8_t, 5> pointers{2, 8, 9, 14, 15};
    /// Hold addresses in the code.
    static constexpr std::array<std::uint8_t, 3> code_pointers{1, 28, 29};
    /// Counts the backward jumps that are left.
    static constexpr std::uint8_t loop_counter = 27;
    /// Few, so that sequences depend on one another; x10 to x13 serve compressed forms.
    static constexpr std::array<std::uint8_t, 12> numbers{0,  1,  5,  6,  7,  10,
                                                          11, 12, 13, 18, 19, 31};

    /// Something whose immediate is the way to a piece.
    struct Fixup
    {
        std::size_t offset;                 ///< Where it stands in the code.
        Instruction first;                  ///< The jump, or the head of a pair.
        std::optional<Instruction> second;  ///< JALR or ADDI behind the head, four bytes long.
        std::size_t piece;                  ///< Where it goes.
        std::uint32_t skip;                 ///< Bytes into that piece.
    };

    static Instruction instruction(Opcode opcode,
                                   std::uint8_t rd = 0,
                                   std::uint8_t rs1 = 0,
                                   std::uint8_t rs2 = 0,
                                   std::int32_t imm = 0)
    {
        Instruction made{.opcode = opcode, .rd = rd, .rs1 = rs1, .length = 4, .imm = imm};
        made.rs2 = rs2 & 31;
        return made;
    }

    [[nodiscard]] Opcode jalr() const
    {
        return m_shape.isa.version == Version::v0 ? Opcode::jalr_v0 : Opcode::jalr;
    }
    [[nodiscard]] std::uint64_t here() const { return m_begin + m_code.size(); }
    [[nodiscard]] std::uint8_t any_number() { return m_choices.one_of(numbers); }
    [[nodiscard]] std::uint8_t any_target()
    {
        return m_choices.one_in(16) ? static_cast<std::uint8_t>(m_choices.below(32)) : any_number();
    }
    [[nodiscard]] static bool is_pointer(std::uint8_t reg)
    {
        return std::ranges::find(pointers, reg) != pointers.end() || reg == loop_counter;
    }

    /// Near a page end in half of the programs; at address 0, at the end of memory and at an odd
    /// address now and then.
    void place_code()
    {
        std::uint64_t page = m_choices.one_of<std::uint64_t>({16, 16, 16, 16, 16, 16, 0, 63});
        if (m_shape.late_code)
            page = 16;
        std::uint64_t offset = 0;
        if (page == 63)
            offset = page_size - 1200;
        else if (m_shape.late_code || m_choices.one_in(2))
            offset = page_size - 2 - 2 * m_choices.below(m_shape.late_code ? 60 : 250);
        if (m_choices.one_in(16))
            offset |= 1;
        m_begin = page * page_size + offset;
    }

    void emit_half(std::uint32_t bits)
    {
        m_code.push_back(static_cast<std::byte>(bits & 0xff));
        m_code.push_back(static_cast<std::byte>(bits >> 8 & 0xff));
    }
    void emit_word(std::uint32_t bits)
    {
        emit_half(bits & 0xffff);
        emit_half(bits >> 16);
    }
    /// Writes @p made, in 16 bits where that is possible and chosen.
    void emit(const Instruction& made)
    {
        if (m_choices.one_in(2))
            if (const auto half = compress(made)) {
                emit_half(*half);
                return;
            }
        emit_word(encode(made, m_choices.one_in(4) ? m_choices.bits32() : 0));
    }

    void write_piece()
    {
        switch (m_choices.below(32)) {
        default:
            write_plain();
            break;
        case 8:
        case 9:
        case 10:
        case 11:
        case 12:
            write_access();
            break;
        case 13:
        case 14:
        case 15:
        case 16:
            write_compressed();
            break;
        case 17:
        case 18:
        case 19:
        case 20:
        case 21:
        case 22:
        case 23:
            write_sequence();
            break;
        case 24:
        case 25:
            write_branch();
            break;
        case 26:
            write_loop();
            break;
        case 27:
            write_direct_jump();
            break;
        case 28:
            write_computed_jump();
            break;
        case 29:
            write_constant();
            break;
        case 30:
            write_call();
            break;
        case 31:
            write_rarity();
            break;
        }
    }

    [[nodiscard]] bool is_decoded(std::uint32_t bits) const
    {
        return decoder::decode(bits, m_shape.isa).opcode != Opcode::invalid;
    }

    /// An opcode with a 32-bit encoding that @p wanted accepts and the instruction set has.
    template <typename Predicate>
    [[nodiscard]] Opcode any_opcode(const Predicate& wanted)
    {
        const auto start = m_choices.below(word_opcode_count - 1);
        for (std::size_t i = 0; i < word_opcode_count - 1; ++i) {
            const auto opcode = static_cast<Opcode>(1 + (start + i) % (word_opcode_count - 1));
            if (wanted(isa::traits(opcode)) && is_decoded(encode(instruction(opcode))))
                return opcode;
        }
        return Opcode::addi;
    }

    [[nodiscard]] static bool is_access(const isa::Traits& traits)
    {
        return traits.format == isa::Format::load || traits.format == isa::Format::store ||
               traits.extension == isa::Extension::a;
    }

    void write_plain()
    {
        const Opcode opcode = any_opcode([](const isa::Traits& traits) {
            return traits.flow == isa::Flow::next && !is_access(traits);
        });
        Instruction made =
            instruction(opcode, any_target(), any_number(), any_number(), any_immediate(m_choices));
        if (isa::traits(opcode).format == isa::Format::upper)
            made.imm = any_upper(m_choices);
        // Two operands out of three: the form that most compressed instructions have.
        if (m_choices.one_in(3))
            made.rs1 = made.rd;
        emit(made);
    }

    void write_access()
    {
        const Opcode opcode = any_opcode(is_access);
        const std::uint8_t base = m_choices.one_in(64) ? any_number() : m_choices.one_of(pointers);
        const std::uint8_t rd = m_choices.one_in(32) ? base : any_target();
        emit(instruction(opcode, rd, base, any_number(), any_immediate(m_choices)));
    }

    /// A random halfword that is an instruction, HINTs included.
    void write_compressed()
    {
        for (int tries = 0; tries < 8; ++tries) {
            const auto half = static_cast<std::uint32_t>(m_choices.below(0x10000));
            if (!decoder::is_compressed(half))
                continue;
            const Instruction expansion = decoder::decode(half, m_shape.isa);
            const isa::Traits& traits = isa::traits(expansion.opcode);
            if (expansion.opcode == Opcode::invalid || traits.flow != isa::Flow::next)
                continue;
            if (is_access(traits) ? !is_pointer(expansion.rs1)
                                  : is_pointer(expansion.rd) && expansion.imm != 16)
                continue;
            emit_half(half);
            return;
        }
        emit_half(0x0001);
    }

    /// An instance of a fusion rule, or something that is nearly one.
    void write_sequence()
    {
        const auto reg = [this] { return any_number(); };
        std::vector<Instruction> parts = any_sequence(m_choices, reg);
        if (parts.back().opcode == Opcode::jalr) {
            write_far_jump(parts);
            return;
        }
        if (m_choices.one_in(4))
            spoil(parts, m_choices, reg);
        for (const Instruction& part : parts)
            emit(part);
    }

    /// LUI or AUIPC and JALR, mostly to a piece.
    void write_far_jump(std::vector<Instruction>& parts)
    {
        parts[1].opcode = jalr();
        if (m_choices.one_in(8)) {
            for (const Instruction& part : parts)
                emit(part);
            return;
        }
        // The v1 rows leave their first register free; half of the time it is ra, as v2 wants it.
        if (m_choices.one_in(2))
            parts[0].rd = parts[1].rs1 = isa::reg_ra;
        if (parts[0].rd == 0)
            parts[0].rd = parts[1].rs1 = 5;
        add_fixup(parts[0], parts[1], m_choices.one_in(8));
        emit_word(0);
        emit_word(0);
    }

    void add_fixup(const Instruction& first, std::optional<Instruction> second, bool backward)
    {
        const std::size_t current = m_piece_starts.size() - 1;
        std::size_t piece = current + 1 + m_choices.below(5);
        if (backward)
            piece = current - std::min<std::size_t>(current, m_choices.below(8));
        // A halfword into the piece: often the middle of an instruction or of a sequence.
        std::uint32_t skip = 0;
        if (m_choices.one_in(6))
            skip = m_choices.one_of<std::uint32_t>({2, 4, 4, 8, 1});
        m_fixups.push_back({m_code.size(), first, second, piece, skip});
    }

    /// Room for a jump of two or four bytes that is written when its target is known.
    void add_jump(Instruction jump, bool backward)
    {
        jump.length = m_choices.one_in(2) && compress(jump) ? 2 : 4;
        add_fixup(jump, std::nullopt, backward);
        emit_half(0);
        if (jump.length == 4)
            emit_half(0);
    }

    void write_branch()
    {
        const Opcode opcode =
            any_opcode([](const isa::Traits& t) { return t.flow == isa::Flow::branch; });
        Instruction branch = instruction(opcode, 0, any_number(), any_number());
        if (m_choices.one_in(2))
            branch.rs2 = 0;
        add_jump(branch, m_choices.one_in(16));
    }

    /// A backward branch that is taken a few times.
    void write_loop()
    {
        emit(instruction(Opcode::addi, loop_counter, loop_counter, 0, -1));
        add_jump(instruction(Opcode::blt, 0, 0, loop_counter), true);
    }

    void write_direct_jump()
    {
        add_jump(instruction(Opcode::jal, m_choices.one_of<std::uint8_t>({0, 0, 1, 5})),
                 m_choices.one_in(32));
    }

    /// A jump through a register, which may be the one that it links.
    void write_computed_jump()
    {
        const std::uint8_t reg = m_choices.one_of(code_pointers);
        const std::uint8_t link = m_choices.one_of<std::uint8_t>({0, 1, 5, reg});
        if (m_choices.one_in(3)) {
            emit(instruction(jalr(), link, reg, 0,
                             m_choices.one_of<std::int32_t>({0, 0, 1, 2, -2})));
            return;
        }
        const std::uint8_t through = m_choices.one_of<std::uint8_t>({1, 5, 6, reg});
        add_fixup(instruction(Opcode::auipc, through), instruction(jalr(), link, through),
                  m_choices.one_in(16));
        emit_word(0);
        emit_word(0);
    }

    /// The address of a piece for a later jump, or a pointer for later accesses.
    void write_constant()
    {
        if (m_choices.one_in(2)) {
            const std::uint8_t reg = m_choices.one_of(code_pointers);
            add_fixup(instruction(Opcode::auipc, reg), instruction(Opcode::addi, reg, reg),
                      m_choices.one_in(8));
            emit_word(0);
            emit_word(0);
            return;
        }
        const std::uint8_t reg = m_choices.one_of(pointers);
        const auto address = static_cast<std::int32_t>(any_pointer());
        const std::int32_t low = (address << 20) >> 20;
        emit(instruction(Opcode::lui, reg, 0, 0, address - low));
        emit(instruction(Opcode::addiw, reg, reg, 0, low));
    }

    void emit_call(std::uint64_t number)
    {
        emit_word(encode(
            instruction(Opcode::addi, isa::reg_a7, 0, 0, static_cast<std::int32_t>(number))));
        emit_word(encode(instruction(Opcode::ecall)));
    }

    void write_mapping()
    {
        emit(instruction(Opcode::addi, isa::reg_a0, 0, 0,
                         static_cast<std::int32_t>(m_choices.below(4))));
        emit_call(guest_call::map_late);
    }

    void write_call()
    {
        using namespace guest_call;
        if (m_shape.late_code && m_choices.one_in(2)) {
            write_mapping();
            return;
        }
        emit_call(
            m_choices.one_of({mix, mix, mix, charge, charge, yield, pause, fill, map_late,
                              m_choices.one_of({mix, refuse, leave, exit, std::uint64_t{7}})}));
    }

    /// What ends most programs, or is nearly never written.
    void write_rarity()
    {
        switch (m_choices.below(8)) {
        case 0:
            emit_word(m_choices.bits32());
            break;
        case 1:
            emit_half(m_choices.bits32() & 0xffff);
            break;
        case 2:
            emit(instruction(Opcode::ebreak));
            break;
        case 3:
            emit(instruction(jalr(), any_target(), any_number(), 0, any_immediate(m_choices)));
            break;
        case 4:  // extensions that may be off
            emit(instruction(m_choices.one_of({Opcode::clmul, Opcode::andn, Opcode::amoadd_d}),
                             any_target(), 8, any_number()));
            break;
        case 5:  // one load or store wherever a number points
            emit(instruction(any_opcode(is_access), any_target(), any_number(), any_number(),
                             any_immediate(m_choices)));
            break;
        default:
            emit(instruction(Opcode::ecall));
            break;
        }
    }

    void patch(const Fixup& fixup)
    {
        const std::size_t piece = std::min(fixup.piece, m_piece_starts.size() - 1);
        const std::uint64_t target = m_begin + m_piece_starts[piece] + fixup.skip;
        const std::uint64_t pc = m_begin + fixup.offset;
        const auto distance = static_cast<std::int32_t>(target - pc);
        Instruction first = fixup.first;
        if (!fixup.second) {
            first.imm = distance & ~1;
            if (first.length == 4)
                put(m_code, fixup.offset, encode(first));
            else  // too far for 16 bits: a nop
                put(m_code, fixup.offset, compress(first).value_or(0x0001));
            return;
        }
        const std::int32_t wanted =
            first.opcode == Opcode::lui ? static_cast<std::int32_t>(target) : distance;
        Instruction second = *fixup.second;
        second.imm = (wanted << 20) >> 20;
        first.imm = wanted - second.imm;
        put(m_code, fixup.offset, encode(first));
        put(m_code, fixup.offset + 4, encode(second));
    }

    /// An address at which something begins or ends, or close to one.
    [[nodiscard]] std::uint64_t any_pointer()
    {
        const auto near = static_cast<std::uint64_t>(m_choices.between(-9, 8));
        if (!m_choices.one_in(8))
            return data_begin + page_size + (m_choices.one_in(2) ? near : 64);
        const std::uint64_t edge = m_choices.one_of<std::uint64_t>(
            {data_begin, data_begin + 2 * page_size, read_only_begin, random_program_memory,
             m_begin / page_size * page_size, (m_begin / page_size + 1) * page_size, 0});
        return edge + near;
    }

    [[nodiscard]] std::uint64_t any_value()
    {
        const std::uint64_t any = m_choices.bits64();
        const std::uint64_t small = static_cast<std::uint64_t>(m_choices.between(-8, 8));
        const std::uint64_t bit = std::uint64_t{1} << m_choices.below(64);
        return m_choices.one_of<std::uint64_t>({any, any, any, small, small, bit, bit - 1, 0,
                                                ~std::uint64_t{0}, std::uint64_t{1} << 63,
                                                ~(std::uint64_t{1} << 63), 0x80000000, 0x7fffffff,
                                                0xffffffff, 0xffffffff80000000, 0x100000000});
    }

    /// A jump to each piece, from @p address on.
    [[nodiscard]] std::vector<std::byte> jumps(std::uint64_t address) const
    {
        std::vector<std::byte> code;
        for (const std::size_t piece : m_piece_starts) {
            const std::uint64_t distance = m_begin + piece - (address + code.size());
            put(code, code.size(),
                encode(
                    instruction(Opcode::jal, 0, 0, 0, static_cast<std::int32_t>(distance) & ~1)));
        }
        return code;
    }

    [[nodiscard]] RandomProgram finish()
    {
        RandomProgram made{.code_begin = m_begin, .code_end = here()};
        for (std::uint8_t reg = 1; reg < isa::register_count; ++reg)
            made.registers[reg] = any_value();
        for (const std::uint8_t reg : pointers)
            made.registers[reg] = any_pointer();
        for (const std::uint8_t reg : code_pointers)
            made.registers[reg] = m_begin + m_choices.one_of(m_piece_starts);
        made.registers[loop_counter] = m_choices.below(12);
        made.registers[isa::reg_a7] = guest_call::mix;
        for (const std::size_t piece : m_piece_starts)
            made.pieces.push_back(m_begin + piece);

        const std::uint64_t first_page = m_begin / page_size * page_size;
        std::vector<std::byte> code(m_begin - first_page);
        // c.nop, so that code can be entered in front of its beginning.
        for (std::size_t i = 0; i < code.size(); i += 2)
            code[i] = std::byte{1};
        code.insert(code.end(), m_code.begin(), m_code.end());
        if (m_shape.late_code && code.size() > page_size) {
            made.late = {.address = first_page + page_size,
                         .bytes = {code.begin() + page_size, code.end()}};
            made.late.other_bytes = made.late.bytes;
            // The other version of the page differs in places.
            for (std::size_t i = m_choices.below(16); i < made.late.bytes.size();
                 i += 1 + m_choices.below(32))
                made.late.other_bytes[i] = static_cast<std::byte>(m_choices.below(256));
            code.resize(page_size);
        }
        ElfFile file{.entry = m_begin};
        if (m_shape.late_code) {
            made.jumps_begin = first_page - page_size;
            made.jump_count = m_piece_starts.size();
            file.segments.push_back({.vaddr = made.jumps_begin, .bytes = jumps(made.jumps_begin)});
        }
        file.segments.push_back({.vaddr = first_page, .bytes = std::move(code)});
        file.segments.push_back({.vaddr = data_begin,
                                 .flags = elf_flag::data,
                                 .bytes = pattern(page_size + 200),
                                 .memsz = data_pages * page_size});
        file.segments.push_back(
            {.vaddr = read_only_begin, .flags = elf_flag::read, .bytes = pattern(100)});
        made.elf = build(file);
        return made;
    }

    Choices& m_choices;
    ProgramShape m_shape;
    std::uint64_t m_begin = 0;
    std::vector<std::byte> m_code;
    std::vector<std::size_t> m_piece_starts;  ///< Offsets in the code.
    std::vector<Fixup> m_fixups;
};

/// A program of @p shape out of @p choices.
[[nodiscard]] inline RandomProgram make_random_program(Choices& choices, const ProgramShape& shape)
{
    return ProgramGenerator{choices, shape}.make();
}
}  // namespace mopvm::test
