// SPDX-License-Identifier: MIT
/// @file
/// A program's code from its first byte to its last, run or not.
#pragma once

#include "decoder/decoder.hpp"
#include "isa/instruction.hpp"

#include <mopvm/program.hpp>

#include <cstdint>
#include <vector>

namespace mopvm::bench
{
/// What benchmarks decode for: the default configuration.
inline constexpr decoder::Isa sweep_isa{.version = Version::v2, .b = true, .a = false};

/// One place in the code.
struct Word
{
    std::uint64_t address = 0;
    std::uint32_t bits = 0;  ///< As `decoder::decode` takes them.
    isa::Instruction instruction;
};

/// All instructions of the executable segments in the order of the file. Halfwords between them
/// that are none, such as padding, are left out.
[[nodiscard]] std::vector<Word> sweep(const Program& program);
}  // namespace mopvm::bench
