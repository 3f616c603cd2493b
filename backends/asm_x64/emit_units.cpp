// SPDX-License-Identifier: MIT
// The code of units that compute: operands, one or two instructions, and the result.

#include "asm_x64/emitter.hpp"

namespace mopvm::asm_x64
{
using namespace asmjit::x86;

namespace
{
constexpr std::array<UnitCode, unit_count> unit_codes{{
    {},
#define MOPVM_UNIT(id, shape, code, width) {static_cast<std::uint32_t>(code), width},
#define MOPVM_EXTRA_UNIT(id, shape, code, width) {static_cast<std::uint32_t>(code), width},
#include "asm_x64/units.inc"
}};

/// @p reg, or its lower half when the operation has 32 bits.
Gp sized(Gp reg, std::uint32_t width)
{
    return width == 32 ? reg.r32() : reg;
}

/// The instruction of BMI2 that shifts like @p instruction, by any register and to another; or
/// none.
asmjit::InstId free_shift(std::uint32_t instruction) noexcept
{
    switch (instruction) {
    case Inst::kIdShl:
        return Inst::kIdShlx;
    case Inst::kIdShr:
        return Inst::kIdShrx;
    case Inst::kIdSar:
        return Inst::kIdSarx;
    default:
        return Inst::kIdNone;  // those that rotate
    }
}
}  // namespace

UnitCode unit_code(Unit unit) noexcept
{
    return unit_codes[index(unit)];
}

Mem Emitter::cell_byte(std::int32_t offset) const
{
    return byte_ptr(rbx, m_cell + offset);
}

Mem Emitter::cell_word(std::int32_t offset) const
{
    return word_ptr(rbx, m_cell + offset);
}

/// The @p index-th cell behind the unit's first.
Mem Emitter::payload(std::int32_t index) const
{
    return qword_ptr(rbx, m_cell + cell_offset::payload * (1 + index));
}

/// The guest register whose number is in @p index, or its low @p size bytes.
Mem Emitter::guest(Gp index, std::uint32_t size) const
{
    return Mem{rbp, index, 3, -state_offset::middle, size};
}

/// The host register that holds the result of the sequence's unit at @p position.
Gp Emitter::result_of(std::size_t position) const
{
    // One more than results are remembered, so that none is overwritten before that.
    const std::array<Gp, max_distance + 1> registers{rsi, rdi, r9, r10};
    return registers[position % registers.size()];
}

bool Emitter::first_is_result() const
{
    return m_token.first != 0 && m_token.first != Token::same_base;
}

void Emitter::load_index(Gp to, std::int32_t operand)
{
    a.movzx(to.r32(), cell_byte(operand));
}

/// A register with the value of rs1: that of an earlier result, or @p otherwise.
Gp Emitter::first(Gp otherwise, std::uint32_t size)
{
    if (first_is_result())
        return result_of(m_position - m_token.first);
    load_first(otherwise, size);
    return otherwise;
}

/// The value of rs1 in @p to.
void Emitter::load_first(Gp to, std::uint32_t size)
{
    if (first_is_result()) {
        a.mov(to, result_of(m_position - m_token.first));
        return;
    }
    load_index(to, cell_offset::rs1);
    a.mov(size == 4 ? to.r32() : to, guest(to, size));
}

/// The value of rs2 in @p to.
void Emitter::load_second(Gp to, std::uint32_t size)
{
    if (m_token.second != 0) {
        a.mov(to, result_of(m_position - m_token.second));
        return;
    }
    load_index(to, cell_offset::rs2);
    a.mov(size == 4 ? to.r32() : to, guest(to, size));
}

void Emitter::load_immediate(Gp to)
{
    a.movsx(to, cell_word(cell_offset::immediate));
}

/// Writes @p value to the guest register that the cell's @p operand names. Changes rcx.
void Emitter::store_result(Gp value, std::int32_t operand)
{
    load_index(rcx, operand);
    a.mov(guest(rcx), value);
}

/// Writes the result, extended from @p width bits, to rd.
void Emitter::finish(std::uint32_t width)
{
    if (width == 32)
        a.movsxd(result(), result().r32());
    if (!is_replaced(m_position))
        store_result(result());
}

/// Writes both results of a unit; the second is the one that is remembered.
void Emitter::finish_two(Gp rd_value, Gp r3_value)
{
    store_result(rd_value);
    if (r3_value.id() != result().id())
        a.mov(result(), r3_value);
    store_result(result(), cell_offset::r3);
}

/// The result is 1 when @p condition holds, else 0.
void Emitter::set_result(CondCode condition)
{
    a.set(condition, result().r8());
    a.movzx(result().r32(), result().r8());
}

/// Undoes a write to x0 by units that write slots which they also read.
void Emitter::restore_zero()
{
    a.mov(qword_ptr(rbp, -state_offset::middle), 0);
}

void Emitter::emit_unit(Token token)
{
    const Shape of = shape(token.unit);
    const UnitCode code = unit_code(token.unit);
    switch (of) {
    case Shape::nothing:
        break;
    case Shape::constant:
        a.mov(result(), payload(0));
        finish(64);
        break;
    case Shape::small_constant:
        load_immediate(result());
        finish(64);
        break;
    case Shape::commutative:
    case Shape::ordered:
    case Shape::inverted:
    case Shape::shift:
    case Shape::set:
    case Shape::select:
    case Shape::scaled_add:
    case Shape::bit:
    case Shape::bit_extract:
        emit_arithmetic(of, code);
        break;
    case Shape::immediate:
    case Shape::immediate_set:
    case Shape::shift_immediate:
    case Shape::shift_word:
    case Shape::bit_immediate:
    case Shape::bit_extract_immediate:
        emit_immediate(of, code);
        break;
    case Shape::move:
    case Shape::leading_zeros:
    case Shape::trailing_zeros:
    case Shape::count_ones:
    case Shape::extend_signed:
    case Shape::extend:
    case Shape::reverse_bytes:
        emit_unary(of, code);
        break;
    case Shape::multiply_high:
    case Shape::multiply_high_mixed:
    case Shape::wide_multiply:
    case Shape::wide_multiply_mixed:
        emit_multiply(of, code);
        break;
    case Shape::divide_signed:
    case Shape::wide_divide_signed:
        emit_divide_signed(code);
        break;
    case Shape::divide_unsigned:
    case Shape::wide_divide_unsigned:
        emit_divide_unsigned(code);
        break;
    case Shape::load:
    case Shape::load_signed:
    case Shape::store:
        emit_access(of, code);
        break;
    case Shape::adc:
    case Shape::sbb:
    case Shape::sum_with_carry:
    case Shape::difference_with_borrow:
    case Shape::add3:
        emit_fused(of, code);
        break;
    case Shape::branch:
    case Shape::branch_zero:
    case Shape::jump:
    case Shape::call:
    case Shape::jump_indirect:
    case Shape::call_indirect:
    case Shape::leave:
    case Shape::unresolved:
    case Shape::semantic:
    case Shape::count:
        emit_control(of, code);
        break;
    case Shape::carryless:
        emit_carryless(code);
        break;
    }
}

/// result = result @p instruction rs2
void Emitter::emit_with_second(std::uint32_t instruction, std::uint32_t width)
{
    if (m_token.second != 0) {
        a.emit(instruction, sized(result(), width),
               sized(result_of(m_position - m_token.second), width));
        return;
    }
    load_index(rcx, cell_offset::rs2);
    a.emit(instruction, sized(result(), width), guest(rcx, width / 8));
}

void Emitter::emit_arithmetic(Shape shape, UnitCode unit)
{
    const std::uint32_t size = unit.width / 8;
    switch (shape) {
    case Shape::commutative:
    case Shape::ordered:
        load_first(result(), size);
        emit_with_second(unit.code, unit.width);
        break;
    case Shape::inverted:
        load_second(rcx);
        if (unit.code == Inst::kIdAnd && m_features.bmi1) {
            a.andn(result(), rcx, first(result()));
            break;
        }
        a.not_(rcx);
        load_first(result());
        a.emit(unit.code, result(), rcx);
        break;
    case Shape::shift:
        load_second(rcx, size);
        shift_by_rcx(unit, first(result(), size));
        break;
    case Shape::set: {
        const Gp value = first(result());
        if (m_token.second != 0) {
            a.cmp(value, result_of(m_position - m_token.second));
        } else {
            load_index(rcx, cell_offset::rs2);
            a.cmp(value, guest(rcx));
        }
        set_result(static_cast<CondCode>(unit.code));
        return finish(64);
    }
    case Shape::select:
        load_second(rcx);
        load_first(result());
        a.cmp(result(), rcx);
        a.cmov(static_cast<CondCode>(unit.code), result(), rcx);
        break;
    case Shape::scaled_add:
        // The width is that of rs1 alone, which is not signed.
        load_second(rcx);
        load_first(result(), size);
        if (unit.width == 32)
            a.mov(result().r32(), result().r32());
        a.lea(result(), ptr(rcx, result(), unit.code));
        return finish(64);
    case Shape::bit:
        load_second(rcx);
        load_first(result());
        a.emit(unit.code, result(), rcx);
        break;
    case Shape::bit_extract: {
        load_second(rcx);
        a.bt(first(rax), rcx);
        set_result(CondCode::kC);
        break;
    }
    default:
        break;
    }
    finish(unit.width);
}

void Emitter::emit_immediate(Shape shape, UnitCode unit)
{
    switch (shape) {
    case Shape::immediate:
        // All of them are commutative.
        load_immediate(result());
        if (first_is_result()) {
            a.emit(unit.code, sized(result(), unit.width),
                   sized(result_of(m_position - m_token.first), unit.width));
        } else {
            load_index(rcx, cell_offset::rs1);
            a.emit(unit.code, sized(result(), unit.width), guest(rcx, unit.width / 8));
        }
        return finish(unit.width);
    case Shape::immediate_set:
        load_immediate(rcx);
        a.cmp(first(rax), rcx);
        set_result(static_cast<CondCode>(unit.code));
        return finish(64);
    default:
        break;
    }
    a.movzx(ecx, cell_byte(cell_offset::immediate));
    if (shape == Shape::bit_extract_immediate) {
        a.bt(first(rax), rcx);
        set_result(CondCode::kC);
        return finish(64);
    }
    if (shape == Shape::shift_immediate) {
        shift_by_rcx(unit, first(result(), unit.width / 8));
        return finish(unit.width);
    }
    load_first(result(), unit.width / 8);
    switch (shape) {
    case Shape::shift_word:
        a.mov(result().r32(), result().r32());
        a.shl(result(), cl);
        break;
    case Shape::bit_immediate:
        a.emit(unit.code, result(), rcx);
        break;
    default:
        break;
    }
    finish(unit.width);
}

/// result = @p source shifted by rcx
void Emitter::shift_by_rcx(UnitCode unit, Gp source)
{
    const Gp made = sized(result(), unit.width);
    const Gp from = sized(source, unit.width);
    if (const auto instruction = free_shift(unit.code);
        m_features.bmi2 && instruction != Inst::kIdNone)
    {
        a.emit(instruction, made, from, sized(rcx, unit.width));
        return;
    }
    if (from.id() != made.id())
        a.mov(made, from);
    a.emit(unit.code, made, cl);
}

void Emitter::emit_unary(Shape shape, UnitCode unit)
{
    const Gp made = sized(result(), unit.width);
    const Gp source = sized(first(result(), unit.width / 8), unit.width);
    switch (shape) {
    case Shape::move:
        if (source.id() != made.id())
            a.mov(made, source);
        break;
    case Shape::leading_zeros:
        if (m_features.lzcnt) {
            a.lzcnt(made, source);
            break;
        }
        // BSR leaves the number of the highest bit. Of zero it sets the flag, and this makes it the
        // width.
        a.mov(ecx, 2 * unit.width - 1);
        a.bsr(made, source);
        a.cmovz(made.r32(), ecx);
        a.xor_(made.r32(), unit.width - 1);
        break;
    case Shape::trailing_zeros:
        if (m_features.bmi1) {
            a.tzcnt(made, source);
            break;
        }
        a.mov(ecx, unit.width);
        a.bsf(made, source);
        a.cmovz(made.r32(), ecx);
        break;
    case Shape::count_ones:
        count_ones(unit, source);
        break;
    case Shape::extend_signed:
        if (unit.code == 1)
            a.movsx(made, source.r8());
        else if (unit.code == 2)
            a.movsx(made, source.r16());
        else
            a.movsxd(made, source.r32());
        break;
    case Shape::extend:
        a.movzx(made.r32(), source.r16());
        break;
    case Shape::reverse_bytes:
        if (source.id() != made.id())
            a.mov(made, source);
        a.bswap(made);
        break;
    default:
        break;
    }
    finish(64);
}

/// result = how many bits of @p source are set
void Emitter::count_ones(UnitCode unit, Gp source)
{
    const Gp made = sized(result(), unit.width);
    if (m_features.popcnt) {
        a.popcnt(made, source);
        return;
    }
    // Sums of two bits each, of four, of eight, and of all bytes in the highest. What is more than
    // 32 bits of a shorter operand is zero.
    constexpr std::uint64_t every_byte = 0x0101010101010101;
    a.mov(sized(rax, unit.width), source);
    a.mov(rcx, rax);
    a.shr(rcx, 1);
    a.mov(rdx, every_byte * 0x55);
    a.and_(rcx, rdx);
    a.sub(rax, rcx);
    a.mov(rdx, every_byte * 0x33);
    a.mov(rcx, rax);
    a.shr(rcx, 2);
    a.and_(rax, rdx);
    a.and_(rcx, rdx);
    a.add(rax, rcx);
    a.mov(rcx, rax);
    a.shr(rcx, 4);
    a.add(rax, rcx);
    a.mov(rdx, every_byte * 0x0f);
    a.and_(rax, rdx);
    a.mov(rdx, every_byte);
    a.imul(rax, rdx);
    a.shr(rax, 56);
    a.mov(result(), rax);
}

void Emitter::emit_carryless(UnitCode unit)
{
    if (!m_features.pclmul)
        return emit_semantic();
    load_first(rax);
    load_second(rcx);
    a.movq(xmm0, rax);
    a.movq(xmm1, rcx);
    a.pclmulqdq(xmm0, xmm1, 0);
    a.movq(rax, xmm0);
    const auto half = static_cast<Half>(unit.code);
    if (half != Half::lower) {
        a.psrldq(xmm0, 8);
        a.movq(rcx, xmm0);
        if (half == Half::shifted)
            a.shld(rcx, rax, 1);
        a.mov(rax, rcx);
    }
    a.mov(result(), rax);
    finish(64);
}

void Emitter::emit_multiply(Shape shape, UnitCode unit)
{
    if (shape == Shape::multiply_high_mixed || shape == Shape::wide_multiply_mixed) {
        load_second(rcx);
        load_first(rax);
        multiply_mixed();
    } else {
        load_first(rax);
        if (m_token.second != 0) {
            a.emit(unit.code, rdx, rax, result_of(m_position - m_token.second));
        } else {
            load_index(rcx, cell_offset::rs2);
            a.emit(unit.code, rdx, rax, guest(rcx));
        }
    }
    if (shape == Shape::multiply_high || shape == Shape::multiply_high_mixed) {
        a.mov(result(), rdx);
        return finish(64);
    }
    finish_two(rdx, rax);
}

/// rdx:rax = rax, signed, times rcx, unsigned: the unsigned product less rcx in the upper half when
/// rax is negative.
void Emitter::multiply_mixed()
{
    a.mov(rsi, rax);
    a.mul(rdx, rax, rcx);
    a.sar(rsi, 63);
    a.and_(rsi, rcx);
    a.sub(rdx, rsi);
}

void Emitter::emit_divide_signed(UnitCode unit)
{
    const bool is_word = unit.width == 32;
    const Gp dividend = sized(rax, unit.width);
    const Gp divisor = sized(rcx, unit.width);
    const Label divide = a.newLabel();
    const Label by_zero = a.newLabel();
    const Label done = a.newLabel();
    load_second(rcx, unit.width / 8);
    load_first(rax, unit.width / 8);
    // Only 0 and -1 are special.
    a.lea(sized(rdx, unit.width), ptr(rcx, 1));
    a.cmp(sized(rdx, unit.width), 1);
    a.ja(divide);
    a.test(divisor, divisor);
    a.jz(by_zero);
    a.neg(dividend);
    a.xor_(edx, edx);
    a.jmp(done);
    a.bind(by_zero);
    a.mov(rdx, rax);
    a.mov(rax, -1);
    a.jmp(done);
    a.bind(divide);
    if (is_word) {
        a.cdq(edx, eax);
        a.idiv(edx, eax, ecx);
    } else {
        a.cqo(rdx, rax);
        a.idiv(rdx, rax, rcx);
    }
    a.bind(done);
    finish_division(unit);
}

void Emitter::emit_divide_unsigned(UnitCode unit)
{
    const Gp divisor = sized(rcx, unit.width);
    const Label divide = a.newLabel();
    const Label done = a.newLabel();
    load_second(rcx, unit.width / 8);
    load_first(rax, unit.width / 8);
    a.test(divisor, divisor);
    a.jnz(divide);
    a.mov(rdx, rax);
    a.mov(rax, -1);
    a.jmp(done);
    a.bind(divide);
    a.xor_(edx, edx);
    if (unit.width == 32)
        a.div(edx, eax, ecx);
    else
        a.div(rdx, rax, rcx);
    a.bind(done);
    finish_division(unit);
}

/// The quotient is in rax, the remainder in rdx.
void Emitter::finish_division(UnitCode unit)
{
    const auto part = static_cast<Part>(unit.code);
    if (part == Part::both)
        return finish_two(rax, rdx);
    a.mov(result(), part == Part::quotient ? rax : rdx);
    finish(unit.width);
}
}  // namespace mopvm::asm_x64
