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

bool Lookahead::decode_slowly(std::uint64_t at, Decoded& made) noexcept
{
    std::uint32_t bits = 0;
    if (!fetch(m_space, at, bits, m_fault))
        return false;
    m_known = at - at % page_size;
    m_known_bytes = page_size - sizeof(bits) + 1;
    return decode_bits(bits, at, made);
}

/// Makes the operation that a rule makes of @p head, the instruction ahead and those behind it.
/// What was decoded beyond its parts is decoded again.
/// @return false, staying where it is, when no rule matches.
bool Lookahead::fuse(isa::Operation& operation, const Decoded& head) noexcept
{
    std::array<isa::Instruction, fusion::max_parts> window{isa::unpack(head.instruction),
                                                           isa::unpack(m_ahead.instruction)};
    std::size_t seen = 2;
    std::uint64_t end = m_ahead.end;
    const std::size_t wanted = m_heads[isa::index(head.instruction.opcode())].window_size;
    while (seen < wanted && !isa::ends_block(window[seen - 1].opcode)) {
        Decoded behind;
        if (!decode(end, behind)) {
            m_refused = m_fault.code != ErrorCode::invalid_instruction;
            break;
        }
        window[seen++] = isa::unpack(behind.instruction);
        end = behind.end;
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
