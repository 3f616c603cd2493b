// SPDX-License-Identifier: MIT
/// @file
/// Code as a list of instructions, and what fusion makes of it.
#pragma once

#include "decoder/decoder.hpp"
#include "decoder/disassembler.hpp"
#include "fusion/fuser.hpp"

#include <mopvm/machine.hpp>

#include <cstddef>
#include <deque>
#include <functional>
#include <optional>
#include <span>
#include <string>

namespace mopvm::tool
{
/// The instruction set that a machine of @p config decodes.
[[nodiscard]] decoder::Isa isa_of(const Config& config) noexcept;

/// The bits of one instruction.
struct Parcel
{
    std::uint64_t address = 0;
    std::uint32_t bits = 0;
    unsigned length = 0;  ///< Bytes: 2 or 4; 1 for the odd last byte of a segment.
    isa::Instruction instruction{};
};

/// One or more instructions that a machine executes as one operation.
struct Group
{
    std::vector<Parcel> parts;
    std::optional<isa::Opcode> rule;  ///< The fusion rule; nothing for a single instruction.
};

/// Walks through @p code, which begins at address @p base, one operation after another.
class Sweep
{
public:
    /// @param fusion  whether sequences that a rule fuses come as one group.
    Sweep(std::span<const std::byte> code,
          std::uint64_t base,
          const decoder::Isa& isa,
          bool fusion) noexcept
        : m_code{code}, m_base{base}, m_isa{isa}, m_fusion{fusion}
    {}

    /// The next group; nothing at the end.
    [[nodiscard]] std::optional<Group> next();

private:
    void fill(std::size_t count);

    std::span<const std::byte> m_code;
    std::uint64_t m_base;
    decoder::Isa m_isa;
    bool m_fusion;
    std::size_t m_offset = 0;
    std::deque<Parcel> m_ahead;
};

/// The text of @p parcel; @p name tells what to call an address, or nothing.
[[nodiscard]] std::string spell(const Parcel& parcel,
                                const decoder::Isa& isa,
                                decoder::Spelling spelling,
                                const std::function<std::string(std::uint64_t)>& name);

/// The operation of @p machine at @p pc, a fused one with its parts; empty when nothing can be
/// fetched there.
[[nodiscard]] std::string describe_operation(Machine& machine, std::uint64_t pc);
}  // namespace mopvm::tool
