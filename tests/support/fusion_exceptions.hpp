// SPDX-License-Identifier: MIT
/// @file
/// The four cases in which a fused operation differs from the sequence that it replaces.
#pragma once

#include "isa/instruction.hpp"
#include "isa/registers.hpp"

#include <mopvm/config.hpp>

#include <cstdint>
#include <span>
#include <utility>

namespace mopvm::test
{
/// True when @p fused, made of the first instructions of @p window, is one of the cases that
/// `docs/fusion.md` lists.
[[nodiscard]] inline bool differs_from_its_parts(const isa::Operation& fused,
                                                 std::span<const isa::Instruction> window,
                                                 Version version)
{
    const auto sum = std::int64_t{window[0].imm} + (window.size() > 1 ? window[1].imm : 0);
    switch (fused.opcode) {
    case isa::Opcode::sbb:
        return window[1].rs2 != window[0].rd;
    case isa::Opcode::far_jump_rel:
    case isa::Opcode::far_jump_abs:
        return (version == Version::v1 && window[0].rd != isa::reg_ra) ||
               !std::in_range<std::int32_t>(sum);
    default:
        return false;
    }
}
}  // namespace mopvm::test
