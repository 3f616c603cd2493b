// SPDX-License-Identifier: MIT
/// @file
/// From bytes to operations: instructions in order, each decoded once however often it is looked
/// at, and the fusion of what stands at the front.
#pragma once

#include "code/code_config.hpp"
#include "fusion/fuser.hpp"
#include "isa/instruction.hpp"
#include "memory/space.hpp"

#include <array>
#include <cstddef>
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

    /// Why the instruction behind those that were decoded is none.
    [[nodiscard]] const memory::Fault& fault() const noexcept { return m_fault; }

    /// True when look-ahead for the last operation met a byte that may not be fetched: were it
    /// executable, the operation might be another.
    [[nodiscard]] bool refused() const noexcept { return m_refused; }

private:
    [[nodiscard]] bool decode(isa::Instruction& instruction) noexcept;
    [[nodiscard]] bool decode_behind() noexcept;
    void look_ahead(std::size_t wanted) noexcept;
    void make(isa::Operation& operation, const isa::Instruction& instruction) const noexcept;
    void drop(std::size_t count) noexcept;
    /// The @p i-th instruction that was decoded and not yet dropped.
    [[nodiscard]] const isa::Instruction& seen(std::size_t i) const noexcept
    {
        return m_window[m_first + i];
    }

    const CodeConfig& m_config;
    const memory::Space& m_space;
    const fusion::WindowSizes& m_window_sizes;
    std::uint64_t m_pc;
    std::uint64_t m_end;  ///< Behind the instructions in the window.
    /// What was decoded only to look ahead, from `m_first` on; moved to the front when the end is
    /// reached.
    std::array<isa::Instruction, 2 * fusion::max_parts> m_window;
    std::size_t m_first = 0;
    std::size_t m_seen = 0;
    /// Where whole words can be read: in a page that is executable, as something in it was fetched.
    std::uint64_t m_known = 0;
    std::uint64_t m_known_bytes = 0;
    memory::Fault m_fault{};
    bool m_refused = false;
};
}  // namespace mopvm::code
