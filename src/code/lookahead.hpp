// SPDX-License-Identifier: MIT
/// @file
/// From bytes to operations: instructions in order, and the fusion of what stands at the front.
#pragma once

#include "code/code_config.hpp"
#include "fusion/fuser.hpp"
#include "isa/instruction.hpp"
#include "isa/packed.hpp"
#include "memory/space.hpp"

#include <cstdint>

namespace mopvm::code
{
/// Reads operations one after another.
class Lookahead
{
public:
    /// Begins at @p pc, any address. @p config and @p space must outlive it.
    Lookahead(std::uint64_t pc, const CodeConfig& config, const memory::Space& space) noexcept;

    /// Address of the next operation.
    [[nodiscard]] std::uint64_t pc() const noexcept { return m_pc; }

    /// Makes the next operation and goes behind it.
    /// @return false, staying where it is, when its first instruction cannot be fetched or decoded;
    /// `fault` says why.
    [[nodiscard]] bool next(isa::Operation& operation) noexcept;

    /// The same, in lookahead_inline.hpp, for whom all code passes through.
    [[nodiscard]] bool next_inline(isa::Operation& operation) noexcept;

    /// Why the instruction behind those that were decoded is none.
    [[nodiscard]] const memory::Fault& fault() const noexcept { return m_fault; }

    /// True when look-ahead for the last operation met a byte that may not be fetched: were it
    /// executable, the operation might be another.
    [[nodiscard]] bool refused() const noexcept { return m_refused; }

private:
    /// An instruction, and the address behind it. That is known before the rest, and all that the
    /// next one needs: so decoding this one and that one go on side by side in the host.
    struct Decoded
    {
        isa::PackedInstruction instruction;
        std::uint64_t end = 0;
    };

    [[nodiscard]] bool decode(std::uint64_t at, Decoded& made) noexcept;
    [[nodiscard]] bool decode_bits(std::uint32_t bits, std::uint64_t at, Decoded& made) noexcept;
    [[nodiscard]] bool decode_slowly(std::uint64_t at, Decoded& made) noexcept;
    [[nodiscard]] bool fuse(isa::Operation& operation, const Decoded& head) noexcept;
    [[nodiscard]] std::uint32_t cost(isa::Opcode opcode) const noexcept
    {
        return m_config.cost_model[static_cast<std::uint8_t>(opcode)];
    }

    const CodeConfig& m_config;
    const memory::Space& m_space;
    const fusion::Heads& m_heads;
    std::uint8_t m_features;  ///< `decoder::Features`.
    bool m_refused = false;
    std::uint64_t m_pc;
    /// The instruction at `m_pc`, if it has been decoded to look ahead; else invalid.
    Decoded m_ahead;
    /// Where whole words can be read: in a page that is executable, as something in it was fetched.
    std::uint64_t m_known = 0;
    std::uint64_t m_known_bytes = 0;
    memory::Fault m_fault{};
};
}  // namespace mopvm::code
