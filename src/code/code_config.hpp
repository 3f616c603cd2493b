// SPDX-License-Identifier: MIT
/// @file
/// What the decoded form of a program depends on beside its bytes.
#pragma once

#include "code/block.hpp"
#include "decoder/decoder.hpp"

#include <mopvm/config.hpp>

namespace mopvm::code
{
/// Two machines whose configurations are equal here can share decoded code.
struct CodeConfig
{
    decoder::Isa isa;
    bool fusion = false;
    CostModel cost_model;
    const BlockFormat* format = &operation_format;

    friend bool operator==(const CodeConfig&, const CodeConfig&) = default;
};

/// The part of @p config that decoding depends on, for an engine that wants @p format.
[[nodiscard]] inline CodeConfig code_config(const Config& config,
                                            const BlockFormat& format = operation_format) noexcept
{
    return {.isa = {.version = config.version, .b = config.isa_b, .a = config.isa_a},
            .fusion = config.fusion,
            .cost_model = config.cost_model,
            .format = &format};
}
}  // namespace mopvm::code
