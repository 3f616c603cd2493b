// SPDX-License-Identifier: MIT
// The code of units that touch memory, that several instructions were fused to, or that go
// elsewhere.

#include "asm_x64/emitter.hpp"

#include <mopvm/memory.hpp>

#include <array>
#include <bit>

namespace mopvm::asm_x64
{
using namespace asmjit::x86;

/// The address of an access in rcx. Changes rdx.
void Emitter::load_address(bool is_store)
{
    const Gp kept_base = is_store ? r8 : r11;
    load_immediate(rcx);
    if (m_token.first == Token::same_base) {
        a.add(rcx, kept_base);
    } else if (first_is_result()) {
        const Gp base = result_of(m_position - m_token.first);
        a.add(rcx, base);
        if (base_is_wanted(is_store))
            a.mov(kept_base, base);
    } else if (base_is_wanted(is_store)) {
        load_first(kept_base);
        a.add(rcx, kept_base);
    } else {
        load_index(rdx, cell_offset::rs1);
        a.add(rcx, guest(rdx));
    }
}

void Emitter::emit_access(Shape shape, UnitCode unit)
{
    const std::uint32_t length = unit.code;
    const Label cold = a.newLabel();
    const Label checked = a.newLabel();
    load_address(shape == Shape::store);
    a.cmp(rcx, qword_ptr(rsp, stack_offset::safe_address));
    a.ja(cold);
    if (shape == Shape::store) {
        // What is not aligned may cross into another page.
        if (length > 1) {
            a.test(cl, length - 1);
            a.jnz(cold);
        }
        a.mov(rdx, rcx);
        a.shr(rdx, memory::page_shift);
        a.cmp(byte_ptr(r15, rdx), page_flag::dirty);
        a.jne(cold);
    }
    a.bind(checked);
    m_cold_accesses.push_back({.from = cold,
                               .back = checked,
                               .length = length,
                               .is_store = shape == Shape::store,
                               .cell = m_cell});

    const Mem place{r13, rcx, 0, 0, length};
    if (shape == Shape::store) {
        Gp value = rax;
        if (m_token.second != 0) {
            value = result_of(m_position - m_token.second);
        } else {
            load_index(rax, cell_offset::rd);
            a.mov(rax, guest(rax));
        }
        const std::array<Gp, 4> by_length{value.r8(), value.r16(), value.r32(), value.r64()};
        a.mov(place, by_length[static_cast<std::size_t>(std::countr_zero(length))]);
        return;
    }
    if (length == 8)
        a.mov(result(), place);
    else if (length == 4 && shape == Shape::load)
        a.mov(result().r32(), place);
    else if (length == 4)
        a.movsxd(result(), place);
    else if (shape == Shape::load)
        a.movzx(result().r32(), place);
    else
        a.movsx(result(), place);
    finish(64);
}

void Emitter::emit_fused(Shape shape, UnitCode unit)
{
    switch (shape) {
    case Shape::sum_with_carry:
    case Shape::difference_with_borrow:
        load_first(rax);
        load_second(rdx);
        if (shape == Shape::sum_with_carry)
            a.add(rax, rdx);
        else
            a.sub(rax, rdx);
        set_result(CondCode::kC);
        finish_two(rax, result());
        break;

    case Shape::adc:
        // r0 = r0 + r1 + r2; r1 = either carry; r2 = the second carry.
        load_index(rcx, cell_offset::rd);
        load_index(rdx, cell_offset::rs1);
        load_index(rsi, cell_offset::rs2);
        a.mov(rax, guest(rcx));
        a.add(rax, guest(rdx));
        a.set(CondCode::kC, Gp{dil});
        a.add(rax, guest(rsi));
        a.mov(guest(rcx), rax);
        a.set(CondCode::kC, al);
        a.movzx(eax, al);
        a.movzx(edi, dil);
        a.or_(edi, eax);
        a.mov(guest(rdx), rdi);
        a.mov(guest(rsi), rax);
        restore_zero();
        break;

    case Shape::sbb:
        // r1 = r1 - r0 - r3; r2 = the first borrow; r3 = the second; r0 = either.
        load_index(rcx, cell_offset::rd);
        load_index(rdx, cell_offset::rs1);
        load_index(rsi, cell_offset::r3);
        a.mov(rax, guest(rdx));
        a.sub(rax, guest(rcx));
        a.set(CondCode::kC, Gp{dil});
        a.sub(rax, guest(rsi));
        a.mov(guest(rdx), rax);
        a.set(CondCode::kC, al);
        a.movzx(eax, al);
        a.movzx(edi, dil);
        load_index(rdx, cell_offset::rs2);
        a.mov(guest(rdx), rdi);
        a.mov(guest(rsi), rax);
        a.or_(edi, eax);
        a.mov(guest(rcx), rdi);
        restore_zero();
        break;

    case Shape::add3: {
        // A sum, its carry, and the carry plus r4. In a the sum is r0 + r1 in r0, with the carry in
        // r2; in b it is r1 + r2 with the carry in r1; in c nobody asks for the carry.
        const auto rule = static_cast<Add3>(unit.code);
        load_index(rcx, cell_offset::rd);
        load_index(rdx, cell_offset::rs1);
        load_index(rsi, cell_offset::rs2);
        a.mov(rax, guest(rdx));
        a.add(rax, guest(rule == Add3::a ? rcx : rsi));
        a.set(CondCode::kC, Gp{dil});
        a.movzx(edi, dil);
        a.movzx(r9d, byte_ptr(rbx, m_cell + cell_offset::payload));
        a.mov(r9, guest(r9));
        a.add(r9, rdi);
        a.mov(guest(rcx), rax);
        if (rule == Add3::a)
            a.mov(guest(rsi), rdi);
        if (rule == Add3::b)
            a.mov(guest(rdx), rdi);
        store_result(r9, cell_offset::r3);
        if (rule != Add3::c)
            restore_zero();
        break;
    }

    default:
        break;
    }
}

/// Has the reference execute the operation in the cells behind.
void Emitter::emit_semantic()
{
    const Label fault = a.newLabel();
    m_cold_faults.push_back(fault);
    a.mov(rdi, qword_ptr(rsp, stack_offset::frame));
    a.lea(rsi, payload(0));
    a.call(qword_ptr(rdi, frame_offset::execute));
    a.test(al, al);
    a.jz(fault);
}

void Emitter::emit_control(Shape shape, UnitCode unit)
{
    const std::int32_t first_payload = m_cell + cell_offset::payload;
    const std::int32_t second_payload = first_payload + cell_offset::payload;
    switch (shape) {
    case Shape::branch:
    case Shape::branch_zero: {
        const auto condition = static_cast<CondCode>(unit.code);
        const Label taken = a.newLabel();
        const Gp value = first(rax);
        if (shape == Shape::branch_zero) {
            a.test(value, value);
        } else if (m_token.second != 0) {
            a.cmp(value, result_of(m_position - m_token.second));
        } else {
            load_index(rcx, cell_offset::rs2);
            a.cmp(value, guest(rcx));
        }
        a.j(condition, taken);
        // What follows is another block, whose head is between.
        a.add(rbx,
              m_cell + static_cast<std::int32_t>(cells(shape) * sizeof(Cell)) + block_offset::size);
        enter_block();
        a.bind(taken);
        go_to_link(first_payload);
        break;
    }

    case Shape::jump:
        go_to_link(first_payload);
        break;

    case Shape::call:
        a.mov(rax, payload(0));
        store_result(rax);
        go_to_link(second_payload);
        break;

    case Shape::jump_indirect:
    case Shape::call_indirect:
        load_first(rax);
        load_immediate(rcx);
        a.add(rax, rcx);
        a.and_(rax, -2);
        if (shape == Shape::call_indirect) {
            const Label elsewhere = a.newLabel();
            a.mov(rdx, payload(0));
            store_result(rdx);
            // The inline cache: the block that this call went to first.
            a.mov(rcx, payload(1));
            a.mov(edx, dword_ptr(rcx, block_offset::pc));
            a.cmp(rdx, rax);
            a.jne(elsewhere);
            a.mov(rbx, rcx);
            poll_pause();
            enter_block();
            a.bind(elsewhere);
            a.add(rbx, second_payload);
            go_to_target(m_leave_indirect_call);
        } else {
            go_to_target(m_leave_indirect);
        }
        break;

    case Shape::leave:
        a.mov(rax, payload(0));
        a.mov(ecx, unit.code);
        a.jmp(m_leave_with_pc);
        break;

    case Shape::unresolved:
        a.jmp(m_leave_link);
        break;

    case Shape::semantic:
        emit_semantic();
        break;

    case Shape::count:
        a.mov(rdi, qword_ptr(rsp, stack_offset::frame));
        a.lea(rsi, payload(0));
        a.call(qword_ptr(rdi, frame_offset::count));
        break;

    default:
        break;
    }
}
}  // namespace mopvm::asm_x64
