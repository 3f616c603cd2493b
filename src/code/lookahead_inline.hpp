// SPDX-License-Identifier: MIT
/// @file
/// From bytes to operations: what is not fused, as most is not.
#pragma once

#include "code/lookahead.hpp"
#include "decoder/inline.hpp"
#include "isa/packed.hpp"

#include <cstring>

namespace mopvm::code
{
// Which instructions begin a rule cannot be predicted, but that one is fused is rare: so the one
// behind is decoded in any case, and stays.
inline bool Lookahead::next_inline(isa::Operation& operation) noexcept
{
    // One member after the other, as they were written: a host reads back best what it wrote.
    Decoded head{.instruction = {.word = m_ahead.instruction.word, .imm = m_ahead.instruction.imm},
                 .end = m_ahead.end};
    if (head.instruction.opcode() == isa::Opcode::invalid && !decode(m_pc, head)) [[unlikely]]
        return false;
    m_ahead = {};
    m_refused = false;
    const isa::Opcode opcode = head.instruction.opcode();
    if (!isa::ends_block(opcode)) {
        const fusion::Head& rules = m_heads[isa::index(opcode)];
        if (!decode(head.end, m_ahead)) [[unlikely]]
            m_refused = rules.window_size != 0 && m_fault.code != ErrorCode::invalid_instruction;
        else if (rules.goes_on_with(m_ahead.instruction.opcode()) && fuse(operation, head))
            [[unlikely]]
            return true;
    }
    isa::make_operation(operation, head.instruction, cost(opcode));
    m_pc = head.end;
    return true;
}

/// Decodes the instruction at @p at. @return false with the fault set, and @p made invalid, when
/// there is none.
inline bool Lookahead::decode(std::uint64_t at, Decoded& made) noexcept
{
    if (at - m_known >= m_known_bytes) [[unlikely]]
        return decode_slowly(at, made);
    std::uint32_t bits = 0;
    std::memcpy(&bits, m_space.bytes + at, sizeof(bits));
    return decode_bits(bits, at, made);
}

/// The same of @p bits, which were read there.
inline bool Lookahead::decode_bits(std::uint32_t bits, std::uint64_t at, Decoded& made) noexcept
{
    made = {.instruction = decoder::decode_inline(bits, m_features),
            .end = at + (decoder::is_compressed(bits) ? 2U : 4U)};
    if (made.instruction.opcode() != isa::Opcode::invalid) [[likely]]
        return true;
    m_fault = {ErrorCode::invalid_instruction, at};
    return false;
}
}  // namespace mopvm::code
