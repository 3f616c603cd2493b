// SPDX-License-Identifier: MIT
/// @file
/// Reading instruction bits from executable pages.
#pragma once

#include "memory/space.hpp"

#include <cstdint>

namespace mopvm::code
{
/// Reads the instruction at @p pc: a halfword zero-extended, or a word. In the last two bytes of a
/// page the halves are read one after the other, so that a 16-bit instruction needs its own page
/// alone.
/// @return false with @p fault set when a byte is out of bounds or not executable.
[[nodiscard]] bool fetch(const memory::Space& space,
                         std::uint64_t pc,
                         std::uint32_t& bits,
                         memory::Fault& fault) noexcept;
}  // namespace mopvm::code
