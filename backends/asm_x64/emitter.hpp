// SPDX-License-Identifier: MIT
/// @file
/// Emits handlers: the code for one unit or a sequence of them, and what all handlers share.
///
/// Host registers while emitted code runs:
///
/// | register | holds |
/// | --- | --- |
/// | rbx | the cell of the handler that runs |
/// | rbp | the middle of the guest's registers, `state_offset` |
/// | r12 | cycles that are left |
/// | r13, r15 | guest memory, page flags |
/// | r14 | the address of the pause flag |
/// | rsi, rdi, r9, r10 | results of the last units, in turns, within a sequence |
/// | r11, r8 | the bases of the last load and the last store, within a sequence |
/// | rax, rcx, rdx | free within a unit |
///
/// What `stack_offset` names is on the stack.
#pragma once

#include "asm_x64/frame.hpp"
#include "asm_x64/host_features.hpp"
#include "asm_x64/unit.hpp"

#include <asmjit/asmjit.h>

#include <array>
#include <cstdint>
#include <span>
#include <vector>

namespace mopvm::asm_x64
{
/// What a unit's `code` in units.inc means to its shape, and its width in bits.
struct UnitCode
{
    std::uint32_t code = 0;
    std::uint32_t width = 64;
};
[[nodiscard]] UnitCode unit_code(Unit unit) noexcept;

/// Results of divisions.
enum class Part : std::uint32_t
{
    quotient,
    remainder,
    both,
};

/// Bits of a carry-less product.
enum class Half : std::uint32_t
{
    lower,
    upper,
    shifted,  ///< From bit 63 on.
};

/// The three rules that add twice.
enum class Add3 : std::uint32_t
{
    a,
    b,
    c,
};

/// Emits into one section. Errors go to the error handler of the code holder.
class Emitter
{
public:
    using Gp = asmjit::x86::Gp;
    using Mem = asmjit::x86::Mem;
    using Label = asmjit::Label;
    using CondCode = asmjit::x86::CondCode;

    Emitter(asmjit::CodeHolder& code, const HostFeatures& features) : a{&code}, m_features{features}
    {}

    /// The function that C++ calls, and what handlers jump to and call. Comes first.
    void emit_shared();

    /// The handler of @p tokens, which adds to @p runs, unless that is null, whenever it begins.
    /// @return where it begins, in bytes from the beginning of the code.
    std::size_t emit_handler(std::span<const Token> tokens, std::uint64_t* runs = nullptr);

    /// Where the function is that C++ calls with a frame; it answers with a `Leave`.
    [[nodiscard]] std::size_t entry() const noexcept { return m_entry; }

private:
    /// Code that belongs to a handler but is rarely needed, placed behind it.
    struct ColdAccess
    {
        Label from;
        Label back;
        std::uint32_t length;
        bool is_store;
        std::int32_t cell;
    };

    // emit_shared.cpp
    void emit_checked_call(Label label, std::int32_t function, std::uint32_t length);
    void emit_cold();
    void forget_registers();
    void add_to(std::uint64_t* runs);
    void dispatch(std::int32_t behind);
    void enter_block();
    void poll_pause();
    void go_to_link(std::int32_t slot);
    void go_to_target(Label missing);

    // Operands of the unit that is being emitted.
    [[nodiscard]] Mem cell_byte(std::int32_t offset) const;
    [[nodiscard]] Mem cell_word(std::int32_t offset) const;
    [[nodiscard]] Mem payload(std::int32_t index) const;
    [[nodiscard]] Mem guest(Gp index, std::uint32_t size = 8) const;
    [[nodiscard]] Gp result_of(std::size_t position) const;
    [[nodiscard]] Gp result() const { return result_of(m_position); }
    [[nodiscard]] bool first_is_result() const;
    void load_index(Gp to, std::int32_t operand);
    [[nodiscard]] Gp first(Gp otherwise, std::uint32_t size = 8);
    void load_first(Gp to, std::uint32_t size = 8);
    void load_second(Gp to, std::uint32_t size = 8);
    void load_immediate(Gp to);
    void store_result(Gp value, std::int32_t operand = cell_offset::rd);
    void finish(std::uint32_t width);
    void finish_two(Gp rd_value, Gp r3_value);
    void set_result(CondCode condition);
    void restore_zero();

    void emit_unit(Token token);
    void emit_arithmetic(Shape shape, UnitCode unit);
    void emit_with_second(std::uint32_t instruction, std::uint32_t width);
    void emit_immediate(Shape shape, UnitCode unit);
    void shift_by_rcx(UnitCode unit, Gp source);
    void emit_unary(Shape shape, UnitCode unit);
    void count_ones(UnitCode unit, Gp source);
    void emit_carryless(UnitCode unit);
    void emit_semantic();
    void emit_multiply(Shape shape, UnitCode unit);
    void multiply_mixed();
    void emit_divide_signed(UnitCode unit);
    void emit_divide_unsigned(UnitCode unit);
    void finish_division(UnitCode unit);
    void emit_access(Shape shape, UnitCode unit);
    void load_address(bool is_store);
    void emit_fused(Shape shape, UnitCode unit);
    void emit_control(Shape shape, UnitCode unit);

    // The sequence.
    [[nodiscard]] bool is_replaced(std::size_t position) const;
    [[nodiscard]] bool base_is_wanted(bool is_store) const;

    asmjit::x86::Assembler a;  // short, as every line of emitted code begins with it
    HostFeatures m_features;
    std::span<const Token> m_tokens;  ///< The sequence that is being emitted,
    std::size_t m_position = 0;       ///< the unit in it,
    Token m_token;                    ///< and that unit.
    std::int32_t m_cell = 0;          ///< Offset of the unit's first cell from rbx.

    std::size_t m_entry = 0;
    Label m_leave_entry_unpaid;
    Label m_leave_entry;
    Label m_leave_link;
    Label m_leave_indirect;
    Label m_leave_indirect_call;
    Label m_leave_fault;
    Label m_leave;
    std::array<Label, 4> m_check_load;   ///< By the binary logarithm of the length.
    std::array<Label, 4> m_check_store;  ///< The same.
    Label m_leave_with_pc;
    std::vector<ColdAccess> m_cold_accesses;
    std::vector<Label> m_cold_faults;  ///< Of units that are in no sequence: the cell is at rbx.
};
}  // namespace mopvm::asm_x64
