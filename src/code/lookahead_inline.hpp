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
    isa::PackedInstruction head{.word = m_ahead.word, .imm = m_ahead.imm};
    if (head.opcode() == isa::Opcode::invalid && !decode(m_pc, head)) [[unlikely]]
        return false;
    m_ahead = {};
    m_refused = false;
    if (!isa::ends_block(head.opcode())) {
        const fusion::Head& rules = m_heads[isa::index(head.opcode())];
        if (!decode(m_pc + head.length(), m_ahead)) [[unlikely]]
            m_refused = rules.window_size != 0 && m_fault.code != ErrorCode::invalid_instruction;
        else if (rules.goes_on_with(m_ahead.opcode()) && fuse(operation, head)) [[unlikely]]
            return true;
    }
    isa::make_operation(operation, head, cost(head.opcode()));
    m_pc += head.length();
    return true;
}

/// Decodes the instruction at @p at. @return false with the fault set, and @p made invalid, when
/// there is none.
inline bool Lookahead::decode(std::uint64_t at, isa::PackedInstruction& made) noexcept
{
    if (at - m_known >= m_known_bytes) [[unlikely]]
        return decode_slowly(at, made);
    std::uint32_t bits = 0;
    std::memcpy(&bits, m_space.bytes + at, sizeof(bits));
    made = decoder::decode_inline(bits, m_features);
    if (made.opcode() != isa::Opcode::invalid) [[likely]]
        return true;
    m_fault = {ErrorCode::invalid_instruction, at};
    return false;
}
}  // namespace mopvm::code
