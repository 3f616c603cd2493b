// SPDX-License-Identifier: MIT
// From bytes to operations: fetching where pages begin and end, and fusion.

#include "code/fetch.hpp"
#include "code/lookahead_inline.hpp"

#include <array>
#include <cstddef>
#include <span>

namespace mopvm::code
{
Lookahead::Lookahead(std::uint64_t pc,
                     const CodeConfig& config,
                     const memory::Space& space) noexcept
    : m_config{config},
      m_space{space},
      m_heads{fusion::heads(config.fusion ? config.isa.version : Version::v0)},
      m_features{decoder::features(config.isa)},
      m_pc{pc}
{}

bool Lookahead::next(isa::Operation& operation) noexcept
{
    return next_inline(operation);
}

bool Lookahead::decode_slowly(std::uint64_t at, isa::PackedInstruction& made) noexcept
{
    std::uint32_t bits = 0;
    if (!fetch(m_space, at, bits, m_fault))
        return false;
    m_known = at - at % page_size;
    m_known_bytes = page_size - sizeof(bits) + 1;
    made = decoder::decode_inline(bits, m_features);
    if (made.opcode() != isa::Opcode::invalid)
        return true;
    m_fault = {ErrorCode::invalid_instruction, at};
    return false;
}

/// Makes the operation that a rule makes of @p head, the instruction ahead and those behind it.
/// What was decoded beyond its parts is decoded again.
/// @return false, staying where it is, when no rule matches.
bool Lookahead::fuse(isa::Operation& operation, const isa::PackedInstruction& head) noexcept
{
    std::array<isa::Instruction, fusion::max_parts> window{isa::unpack(head), isa::unpack(m_ahead)};
    std::size_t seen = 2;
    std::uint64_t end = m_pc + head.length() + m_ahead.length();
    const std::size_t wanted = m_heads[isa::index(head.opcode())].window_size;
    while (seen < wanted && !isa::ends_block(window[seen - 1].opcode)) {
        isa::PackedInstruction behind;
        if (!decode(end, behind)) {
            m_refused = m_fault.code != ErrorCode::invalid_instruction;
            break;
        }
        window[seen++] = isa::unpack(behind);
        end += behind.length();
    }
    const auto fused = fusion::fuse(std::span{window}.first(seen), m_pc, m_config.isa.version);
    if (!fused)
        return false;
    operation = *fused;
    operation.cost = cost(operation.opcode);
    m_pc += operation.length;
    m_ahead = {};
    return true;
}
}  // namespace mopvm::code
