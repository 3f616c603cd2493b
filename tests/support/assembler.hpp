// SPDX-License-Identifier: MIT
/// @file
/// A small assembler, so that guest code in tests reads like assembly.
#pragma once

#include "isa/encoding.hpp"
#include "isa/opcode.hpp"

#include <array>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace mopvm::test
{
/// Registers by ABI name.
enum Reg : std::uint32_t
{
    zero,
    ra,
    sp,
    gp,
    tp,
    t0,
    t1,
    t2,
    s0,
    s1,
    a0,
    a1,
    a2,
    a3,
    a4,
    a5,
    a6,
    a7,
    s2,
    s3,
    s4,
    s5,
    s6,
    s7,
    s8,
    s9,
    s10,
    s11,
    t3,
    t4,
    t5,
    t6,
};

/// Assembles 32-bit instructions one after another. Each mnemonic is a member function with its
/// operands in the order of GNU as; loads and stores take (register, offset, base). Compressed
/// instructions and raw words are placed with `half` and `word`.
class Assembler
{
public:
    /// A place in the code; branches may refer to it before it is bound.
    struct Label
    {
        std::size_t index;
    };

    /// Code that will be placed at @p base.
    explicit Assembler(std::uint64_t base = 0x10000) : m_base{base} {}

    [[nodiscard]] std::uint64_t base() const { return m_base; }
    /// Address of the next instruction.
    [[nodiscard]] std::uint64_t here() const { return m_base + m_code.size(); }

    [[nodiscard]] Label label()
    {
        m_labels.push_back(unbound);
        return {m_labels.size() - 1};
    }
    void bind(Label label) { m_labels[label.index] = here(); }
    [[nodiscard]] Label bound_label()
    {
        const Label made = label();
        bind(made);
        return made;
    }
    /// Address of a bound label.
    [[nodiscard]] std::uint64_t address(Label label) const { return m_labels[label.index]; }

    void half(std::uint32_t bits)
    {
        m_code.push_back(static_cast<std::byte>(bits & 0xff));
        m_code.push_back(static_cast<std::byte>(bits >> 8 & 0xff));
    }
    void word(std::uint32_t bits)
    {
        half(bits & 0xffff);
        half(bits >> 16);
    }
    /// Zero bytes up to @p address.
    void pad_to(std::uint64_t address)
    {
        assert(address >= here());
        m_code.resize(address - m_base);
    }

    /// The finished code, all labels bound.
    [[nodiscard]] std::vector<std::byte> code() const
    {
        std::vector<std::byte> code = m_code;
        for (const auto& [offset, label, place] : m_fixups) {
            assert(m_labels[label.index] != unbound);
            const auto distance =
                static_cast<std::int64_t>(m_labels[label.index] - (m_base + offset));
            const std::uint32_t bits = place(static_cast<std::int32_t>(distance));
            for (std::size_t i = 0; i < 4; ++i)
                code[offset + i] |= static_cast<std::byte>(bits >> (8 * i) & 0xff);
        }
        return code;
    }

    // One member function for each 32-bit instruction, by format.
#define MOPVM_TEST_none(id) \
    void id() { word(match(isa::Opcode::id)); }
#define MOPVM_TEST_fence(id) \
    void id(std::uint32_t sets = 0xff) { word(match(isa::Opcode::id) | sets << 20); }
#define MOPVM_TEST_upper(id) /* imm20: the value of bits 31:12 */ \
    void id(Reg rd, std::uint32_t imm20) { word(match(isa::Opcode::id) | rd << 7 | imm20 << 12); }
#define MOPVM_TEST_jump(id)                                         \
    void id(Reg rd, std::int32_t offset)                            \
    {                                                               \
        word(match(isa::Opcode::id) | rd << 7 | jump_bits(offset)); \
    }                                                               \
    void id(Reg rd, Label target)                                   \
    {                                                               \
        m_fixups.push_back({m_code.size(), target, jump_bits});     \
        id(rd, 0);                                                  \
    }
#define MOPVM_TEST_indirect(id) MOPVM_TEST_load(id)
#define MOPVM_TEST_branch(id)                                                       \
    void id(Reg rs1, Reg rs2, std::int32_t offset)                                  \
    {                                                                               \
        word(match(isa::Opcode::id) | rs1 << 15 | rs2 << 20 | branch_bits(offset)); \
    }                                                                               \
    void id(Reg rs1, Reg rs2, Label target)                                         \
    {                                                                               \
        m_fixups.push_back({m_code.size(), target, branch_bits});                   \
        id(rs1, rs2, 0);                                                            \
    }
#define MOPVM_TEST_load(id)                                                 \
    void id(Reg rd, std::int32_t offset, Reg rs1)                           \
    {                                                                       \
        word(match(isa::Opcode::id) | rd << 7 | rs1 << 15 | imm12(offset)); \
    }
#define MOPVM_TEST_store(id)                                                       \
    void id(Reg rs2, std::int32_t offset, Reg rs1)                                 \
    {                                                                              \
        const std::uint32_t imm = imm12(offset);                                   \
        word(match(isa::Opcode::id) | rs1 << 15 | rs2 << 20 | (imm & 0xfe000000) | \
             (imm >> 20 & 0x1f) << 7);                                             \
    }
#define MOPVM_TEST_immediate(id)                                         \
    void id(Reg rd, Reg rs1, std::int32_t imm)                           \
    {                                                                    \
        word(match(isa::Opcode::id) | rd << 7 | rs1 << 15 | imm12(imm)); \
    }
#define MOPVM_TEST_shift6(id)                                              \
    void id(Reg rd, Reg rs1, std::uint32_t amount)                         \
    {                                                                      \
        word(match(isa::Opcode::id) | rd << 7 | rs1 << 15 | amount << 20); \
    }
#define MOPVM_TEST_shift5(id) MOPVM_TEST_shift6(id)
#define MOPVM_TEST_reg(id)                                              \
    void id(Reg rd, Reg rs1, Reg rs2)                                   \
    {                                                                   \
        word(match(isa::Opcode::id) | rd << 7 | rs1 << 15 | rs2 << 20); \
    }
#define MOPVM_TEST_unary(id) \
    void id(Reg rd, Reg rs1) { word(match(isa::Opcode::id) | rd << 7 | rs1 << 15); }
#define MOPVM_TEST_reserve(id) MOPVM_TEST_unary(id)
#define MOPVM_TEST_atomic(id)                                           \
    void id(Reg rd, Reg rs2, Reg rs1)                                   \
    {                                                                   \
        word(match(isa::Opcode::id) | rd << 7 | rs1 << 15 | rs2 << 20); \
    }
#define MOPVM_INSTRUCTION(id, mnemonic, format, pattern, extension, cost, flow, versions) \
    MOPVM_TEST_##format(id)
#include "isa/opcodes.inc"
#undef MOPVM_TEST_none
#undef MOPVM_TEST_fence
#undef MOPVM_TEST_upper
#undef MOPVM_TEST_jump
#undef MOPVM_TEST_indirect
#undef MOPVM_TEST_branch
#undef MOPVM_TEST_load
#undef MOPVM_TEST_store
#undef MOPVM_TEST_immediate
#undef MOPVM_TEST_shift6
#undef MOPVM_TEST_shift5
#undef MOPVM_TEST_reg
#undef MOPVM_TEST_unary
#undef MOPVM_TEST_reserve
#undef MOPVM_TEST_atomic

    // The pseudo-instructions that tests use.
    void nop() { addi(zero, zero, 0); }
    void mv(Reg rd, Reg rs) { addi(rd, rs, 0); }
    void j(Label target) { jal(zero, target); }
    void ret() { jalr(zero, 0, ra); }
    void beqz(Reg rs, Label target) { beq(rs, zero, target); }
    void bnez(Reg rs, Label target) { bne(rs, zero, target); }

    /// Any 64-bit constant, without LUI+ADDIW or AUIPC+ADDI pairs, so that it never fuses.
    void li(Reg rd, std::uint64_t value)
    {
        const auto signed_value = static_cast<std::int64_t>(value);
        if (signed_value >= -2048 && signed_value < 2048) {
            addi(rd, zero, static_cast<std::int32_t>(signed_value));
            return;
        }
        const auto low = static_cast<std::int32_t>(value << 53 >> 53);  // 11 bits, not negative
        li(rd, static_cast<std::uint64_t>(signed_value >> 11));
        slli(rd, rd, 11);
        if (low != 0)
            addi(rd, rd, low);
    }

    /// The address of a label within 2 KiB, without AUIPC: JAL to the next instruction gives the
    /// pc.
    void la(Reg rd, Label target)
    {
        jal(rd, 4);
        m_fixups.push_back({m_code.size(), target, [](std::int32_t distance) {
                                return static_cast<std::uint32_t>(distance) << 20;
                            }});
        addi(rd, rd, 0);
    }

    /// Ends the program with @p code.
    void exit(std::int32_t code)
    {
        li(a0, static_cast<std::uint64_t>(code));
        exit_with_a0();
    }
    void exit_with_a0()
    {
        li(a7, 93);
        ecall();
    }

    /// Ends the program with @p code unless @p reg holds @p value. Uses t6.
    void check(Reg reg, std::uint64_t value, std::int32_t code)
    {
        const Label good = label();
        li(t6, value);
        beq(reg, t6, good);
        exit(code);
        bind(good);
    }

private:
    struct Fixup
    {
        std::size_t offset;
        Label label;
        std::uint32_t (*place)(std::int32_t distance);  ///< The distance's bits in the instruction.
    };

    static constexpr std::uint64_t unbound = ~std::uint64_t{0};

    static std::uint32_t match(isa::Opcode opcode)
    {
        static constexpr auto matches = std::to_array<std::uint32_t>({
            0,
#define MOPVM_INSTRUCTION(id, mnemonic, format, pattern, extension, cost, flow, versions) \
    isa::parse_encoding<std::uint32_t>(pattern).match,
#include "isa/opcodes.inc"
        });
        return matches[isa::index(opcode)];
    }
    static std::uint32_t imm12(std::int32_t imm) { return static_cast<std::uint32_t>(imm) << 20; }
    static std::uint32_t branch_bits(std::int32_t offset)
    {
        const auto bits = static_cast<std::uint32_t>(offset);
        return (bits >> 12 & 1) << 31 | (bits >> 5 & 0x3f) << 25 | (bits >> 1 & 0xf) << 8 |
               (bits >> 11 & 1) << 7;
    }
    static std::uint32_t jump_bits(std::int32_t offset)
    {
        const auto bits = static_cast<std::uint32_t>(offset);
        return (bits >> 20 & 1) << 31 | (bits >> 1 & 0x3ff) << 21 | (bits >> 11 & 1) << 20 |
               (bits >> 12 & 0xff) << 12;
    }

    std::uint64_t m_base;
    std::vector<std::byte> m_code;
    std::vector<std::uint64_t> m_labels;
    std::vector<Fixup> m_fixups;
};
}  // namespace mopvm::test
