// SPDX-License-Identifier: MIT
// Entry, exits, dispatch, and the slow ways of memory accesses.

#include "asm_x64/emitter.hpp"
#include "support/noise.hpp"

#include <bit>
#include <ranges>

namespace mopvm::asm_x64
{
using namespace asmjit::x86;

namespace
{
constexpr std::array saved{rbx, rbp, r12, r13, r14, r15};
/// With the return address and those, the stack is aligned for calls.
static_assert((sizeof(std::uint64_t) * (1 + saved.size()) + stack_offset::size) % 16 == 0);

/// What calls of C++ may change and sequences may need afterwards.
constexpr std::array kept{rax, rcx, rsi, rdi, r8, r9, r10, r11};

/// What handlers may use, and find nothing in when they begin.
constexpr std::array scratch{rcx, rdx, rsi, rdi, r8, r9, r10, r11};
}  // namespace

void Emitter::emit_shared()
{
    for (Label* label : {&m_leave_entry_unpaid, &m_leave_entry, &m_leave_link, &m_leave_indirect,
                         &m_leave_indirect_call, &m_leave_with_pc, &m_leave_fault, &m_leave})
        *label = a.newLabel();

    // UndefinedBehaviorSanitizer reads the bytes before a function that is called through a
    // pointer.
    a.embedUInt64(0);
    a.embedUInt64(0);
    m_entry = a.offset();
    for (const Gp& reg : saved)
        a.push(reg);
    a.sub(rsp, stack_offset::size);
    a.mov(qword_ptr(rsp, stack_offset::frame), rdi);
    a.mov(rax, qword_ptr(rdi, frame_offset::safe_address));
    a.mov(qword_ptr(rsp, stack_offset::safe_address), rax);
    a.mov(rax, qword_ptr(rdi, frame_offset::targets));
    a.mov(qword_ptr(rsp, stack_offset::targets), rax);
    a.mov(rbp, qword_ptr(rdi, frame_offset::state));
    a.add(rbp, state_offset::middle);
    a.mov(r12, qword_ptr(rdi, frame_offset::cycles_left));
    a.mov(r13, qword_ptr(rdi, frame_offset::bytes));
    a.mov(r14, qword_ptr(rdi, frame_offset::pause_requested));
    a.mov(r15, qword_ptr(rdi, frame_offset::flags));
    a.mov(rbx, qword_ptr(rdi, frame_offset::ip));
    enter_block();

    // Each leaves its reason in ecx.
    a.bind(m_leave_entry_unpaid);
    a.add(r12, qword_ptr(rbx, block_offset::cost));
    a.bind(m_leave_entry);
    a.mov(ecx, static_cast<std::uint32_t>(Leave::entry));
    a.jmp(m_leave);
    a.bind(m_leave_link);
    a.mov(ecx, static_cast<std::uint32_t>(Leave::link));
    a.jmp(m_leave);
    a.bind(m_leave_fault);
    a.mov(ecx, static_cast<std::uint32_t>(Leave::fault));
    a.jmp(m_leave);
    a.bind(m_leave_indirect);
    a.mov(ecx, static_cast<std::uint32_t>(Leave::indirect));
    a.jmp(m_leave_with_pc);
    a.bind(m_leave_indirect_call);
    a.mov(ecx, static_cast<std::uint32_t>(Leave::indirect_call));
    a.bind(m_leave_with_pc);
    a.mov(rdx, qword_ptr(rsp, stack_offset::frame));
    a.mov(qword_ptr(rdx, frame_offset::pc), rax);

    a.bind(m_leave);
    a.mov(rdx, qword_ptr(rsp, stack_offset::frame));
    a.mov(qword_ptr(rdx, frame_offset::cycles_left), r12);
    a.mov(qword_ptr(rdx, frame_offset::ip), rbx);
    a.mov(eax, ecx);
    a.add(rsp, stack_offset::size);
    for (const Gp& reg : saved | std::views::reverse)
        a.pop(reg);
    a.ret();

    for (std::uint32_t i = 0; i < m_check_load.size(); ++i) {
        m_check_load[i] = a.newLabel();
        m_check_store[i] = a.newLabel();
        emit_checked_call(m_check_load[i], frame_offset::check_load, 1U << i);
        emit_checked_call(m_check_store[i], frame_offset::check_store, 1U << i);
    }
}

/// Asks C++ about the access at rcx. Changes rdx alone; sets the carry flag on refusal.
void Emitter::emit_checked_call(Label label, std::int32_t function, std::uint32_t length)
{
    // The return address, what is kept, and what aligns the stack for the call.
    constexpr std::int32_t padding = 8;
    constexpr auto below =
        static_cast<std::int32_t>(sizeof(std::uint64_t) * (1 + kept.size())) + padding;
    static_assert(below % 16 == 0);
    a.bind(label);
    for (const Gp& reg : kept)
        a.push(reg);
    a.sub(rsp, padding);
    a.mov(rdi, qword_ptr(rsp, below + stack_offset::frame));
    a.mov(rsi, rcx);
    a.mov(edx, length);
    a.call(qword_ptr(rdi, function));
    a.movzx(edx, al);
    a.add(rsp, padding);
    for (const Gp& reg : kept | std::views::reverse)
        a.pop(reg);
    a.cmp(edx, 1);
    a.ret();
}

void Emitter::emit_cold()
{
    for (const ColdAccess& access : m_cold_accesses) {
        a.bind(access.from);
        const auto log = static_cast<std::size_t>(std::countr_zero(access.length));
        a.call(access.is_store ? m_check_store[log] : m_check_load[log]);
        a.jnc(access.back);
        if (access.cell != 0)
            a.add(rbx, access.cell);
        a.jmp(m_leave_fault);
    }
    for (const Label& fault : m_cold_faults) {
        a.bind(fault);
        a.jmp(m_leave_fault);
    }
    m_cold_accesses.clear();
    m_cold_faults.clear();
}

/// In builds with noise: fills registers that mean nothing from one handler to the next.
void Emitter::forget_registers()
{
    if constexpr (support::noise) {
        for (const Gp& reg : scratch)
            a.mov(reg, support::spare_word);
    }
}

/// Goes on with the cell that is @p behind bytes after that of this handler.
void Emitter::dispatch(std::int32_t behind)
{
    forget_registers();
    a.mov(eax, dword_ptr(rbx, behind));
    a.add(rbx, behind);
    a.jmp(rax);
}

/// Pays for the block whose body is at rbx, and begins it.
void Emitter::enter_block()
{
    a.sub(r12, qword_ptr(rbx, block_offset::cost));
    a.jb(m_leave_entry_unpaid);
    forget_registers();
    a.mov(eax, dword_ptr(rbx));
    a.jmp(rax);
}

/// Leaves at the block whose body is at rbx if a pause is wanted.
void Emitter::poll_pause()
{
    a.cmp(byte_ptr(r14), 0);
    a.jne(m_leave_entry);
}

/// Goes where the link at @p slot leads.
void Emitter::go_to_link(std::int32_t slot)
{
    a.mov(rbx, qword_ptr(rbx, slot));
    poll_pause();
    enter_block();
}

/// Goes to the guest address in rax, if it has been looked up before; else to @p missing.
void Emitter::go_to_target(Label missing)
{
    using Entry = code::TargetCache::Entry;
    static_assert(sizeof(Entry) == 16);
    // Addresses are even, so twice the number of entries less two masks all but those bits.
    a.mov(ecx, eax);
    a.and_(ecx, 2 * code::TargetCache::size - 2);
    a.shl(ecx, 3);
    a.add(rcx, qword_ptr(rsp, stack_offset::targets));
    a.cmp(qword_ptr(rcx, offsetof(Entry, pc)), rax);
    a.jne(missing);
    a.mov(rbx, qword_ptr(rcx, offsetof(Entry, block)));
    a.add(rbx, block_offset::size);
    poll_pause();
    enter_block();
}

/// Leaves all registers as they are; flags mean nothing where a handler begins.
void Emitter::add_to(std::uint64_t* runs)
{
    a.push(rax);
    a.mov(rax, reinterpret_cast<std::uintptr_t>(runs));
    a.inc(qword_ptr(rax));
    a.pop(rax);
}

std::size_t Emitter::emit_handler(std::span<const Token> tokens, std::uint64_t* runs)
{
    a.align(asmjit::AlignMode::kCode, 16);
    const std::size_t begin = a.offset();
    if (runs != nullptr)
        add_to(runs);
    m_tokens = tokens;
    m_cell = 0;
    for (m_position = 0; m_position < tokens.size(); ++m_position) {
        m_token = tokens[m_position];
        emit_unit(m_token);
        m_cell += static_cast<std::int32_t>(cells(shape(m_token.unit)) * sizeof(Cell));
    }
    if (!transfers(shape(tokens.back().unit)))
        dispatch(m_cell);
    emit_cold();
    return begin;
}

/// True when the result of the unit at @p position need not be stored: a later one replaces it, and
/// until then nothing leaves the handler.
bool Emitter::is_replaced(std::size_t position) const
{
    for (std::size_t i = position + 1; i < m_tokens.size(); ++i) {
        const Shape of = shape(m_tokens[i].unit);
        if (of == Shape::load || of == Shape::load_signed || of == Shape::store)
            return false;  // may fault
        if (m_tokens[i].over != 0 && i - m_tokens[i].over == position)
            return true;
    }
    return false;
}

/// True when the next load, or store, is based on the same register as this one.
bool Emitter::base_is_wanted(bool is_store) const
{
    for (std::size_t i = m_position + 1; i < m_tokens.size(); ++i) {
        const Shape of = shape(m_tokens[i].unit);
        if (is_store ? of == Shape::store : of == Shape::load || of == Shape::load_signed)
            return m_tokens[i].first == Token::same_base;
    }
    return false;
}
}  // namespace mopvm::asm_x64
