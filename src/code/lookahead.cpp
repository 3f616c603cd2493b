// SPDX-License-Identifier: MIT
// From bytes to operations.

#include "code/lookahead.hpp"

#include "code/fetch.hpp"
#include "decoder/decoder.hpp"

#include <algorithm>
#include <cstring>
#include <span>

namespace mopvm::code
{
bool Lookahead::next(isa::Operation& operation) noexcept
{
    if (m_seen == 0 && !decode_one()) [[unlikely]]
        return false;
    m_refused = false;
    const isa::Opcode head = seen(0).opcode;
    const std::size_t wanted =
        m_config.fusion ? fusion::window_size(head, m_config.isa.version) : 0;
    if (wanted > 1) {
        bool complete = false;
        while (!(complete = m_seen >= wanted || isa::ends_block(seen(m_seen - 1).opcode)) &&
               decode_one())
        {
        }
        m_refused = !complete && m_fault.code != ErrorCode::invalid_instruction;
        const std::span window = std::span{m_window}.subspan(m_first, std::min(m_seen, wanted));
        if (const auto fused = fusion::fuse(window, m_pc, m_config.isa.version)) {
            operation = *fused;
            operation.cost = m_config.cost_model[static_cast<std::uint8_t>(operation.opcode)];
            drop(operation.parts);
            return true;
        }
    }
    operation = isa::to_operation(seen(0));
    operation.cost = m_config.cost_model[static_cast<std::uint8_t>(head)];
    drop(1);
    return true;
}

bool Lookahead::decode_one() noexcept
{
    std::uint32_t bits = 0;
    if (m_end >> memory::page_shift == m_known_page &&
        m_end % page_size <= page_size - sizeof(bits))
    {
        std::memcpy(&bits, m_space.bytes + m_end, sizeof(bits));
        if (decoder::is_compressed(bits))
            bits &= 0xffff;
    } else if (fetch(m_space, m_end, bits, m_fault)) {
        m_known_page = m_end >> memory::page_shift;
    } else {
        return false;
    }
    const isa::Instruction instruction = decoder::decode(bits, m_config.isa);
    if (instruction.opcode == isa::Opcode::invalid) [[unlikely]] {
        m_fault = {ErrorCode::invalid_instruction, m_end};
        return false;
    }
    if (m_first + m_seen == m_window.size()) {
        std::copy(m_window.begin() + static_cast<std::ptrdiff_t>(m_first), m_window.end(),
                  m_window.begin());
        m_first = 0;
    }
    m_window[m_first + m_seen++] = instruction;
    m_end += instruction.length;
    return true;
}

void Lookahead::drop(std::size_t count) noexcept
{
    for (std::size_t i = 0; i < count; ++i)
        m_pc += seen(i).length;
    m_first += count;
    m_seen -= count;
}
}  // namespace mopvm::code
