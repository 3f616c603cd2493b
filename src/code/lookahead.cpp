// SPDX-License-Identifier: MIT
// From bytes to operations.

#include "code/lookahead.hpp"

#include "code/fetch.hpp"
#include "decoder/inline.hpp"

#include <algorithm>
#include <cstring>
#include <span>

namespace mopvm::code
{
Lookahead::Lookahead(std::uint64_t pc,
                     const CodeConfig& config,
                     const memory::Space& space) noexcept
    : m_config{config},
      m_space{space},
      m_window_sizes{fusion::window_sizes(config.fusion ? config.isa.version : Version::v0)},
      m_pc{pc},
      m_end{pc}
{}

bool Lookahead::next(isa::Operation& operation) noexcept
{
    m_refused = false;
    if (m_seen == 0) [[likely]] {
        isa::Instruction instruction;
        if (!decode(instruction)) [[unlikely]]
            return false;
        if (m_window_sizes[isa::index(instruction.opcode)] == 0) [[likely]] {
            make(operation, instruction);
            m_pc = m_end;
            return true;
        }
        m_first = 0;
        m_window[m_seen++] = instruction;
    }
    if (const std::size_t wanted = m_window_sizes[isa::index(seen(0).opcode)]; wanted != 0) {
        look_ahead(wanted);
        const std::span window = std::span{m_window}.subspan(m_first, std::min(m_seen, wanted));
        if (const auto fused = fusion::fuse(window, m_pc, m_config.isa.version)) {
            operation = *fused;
            operation.cost = m_config.cost_model[static_cast<std::uint8_t>(operation.opcode)];
            drop(operation.parts);
            return true;
        }
    }
    make(operation, seen(0));
    drop(1);
    return true;
}

/// Decodes the instructions that decide what the first becomes, at most @p wanted with it.
void Lookahead::look_ahead(std::size_t wanted) noexcept
{
    // Nearly every head that begins a rule is followed by something else.
    while (m_seen < wanted && !isa::ends_block(seen(m_seen - 1).opcode) &&
           (m_seen == 1 || fusion::may_begin(seen(0).opcode, seen(1).opcode, m_config.isa.version)))
    {
        if (!decode_behind()) {
            m_refused = m_fault.code != ErrorCode::invalid_instruction;
            return;
        }
    }
}

/// Decodes one more instruction into the window.
bool Lookahead::decode_behind() noexcept
{
    if (m_first + m_seen == m_window.size()) {
        std::copy(m_window.begin() + static_cast<std::ptrdiff_t>(m_first), m_window.end(),
                  m_window.begin());
        m_first = 0;
    }
    if (!decode(m_window[m_first + m_seen]))
        return false;
    ++m_seen;
    return true;
}

/// Decodes the instruction at `m_end` and goes behind it.
bool Lookahead::decode(isa::Instruction& instruction) noexcept
{
    std::uint32_t bits = 0;
    if (m_end - m_known < m_known_bytes) [[likely]] {
        std::memcpy(&bits, m_space.bytes + m_end, sizeof(bits));
    } else if (fetch(m_space, m_end, bits, m_fault)) {
        m_known = m_end - m_end % page_size;
        m_known_bytes = page_size - sizeof(bits) + 1;
    } else {
        return false;
    }
    instruction = decoder::decode_inline(bits, m_config.isa);
    if (instruction.opcode == isa::Opcode::invalid) [[unlikely]] {
        m_fault = {ErrorCode::invalid_instruction, m_end};
        return false;
    }
    m_end += instruction.length;
    return true;
}

/// The operation that executes @p instruction alone.
void Lookahead::make(isa::Operation& operation, const isa::Instruction& instruction) const noexcept
{
    operation = isa::to_operation(instruction);
    operation.cost = m_config.cost_model[static_cast<std::uint8_t>(instruction.opcode)];
}

void Lookahead::drop(std::size_t count) noexcept
{
    for (std::size_t i = 0; i < count; ++i)
        m_pc += seen(i).length;
    m_first += count;
    m_seen -= count;
}
}  // namespace mopvm::code
