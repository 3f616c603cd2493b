// SPDX-License-Identifier: MIT
/// @file
/// The price of each operation, as a value.
#pragma once

#include <mopvm/error.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace mopvm
{
/// Cycles per operation. Costs depend on the operation alone, never on operands or outcome.
///
/// Operations are named as in `docs/cycles.md`: the lower-case mnemonic of the 32-bit instruction
/// (`add`, `amoadd.w`), or the name of a fusion rule (`wide_mul`). Compressed instructions cost
/// what their expansion costs.
class CostModel
{
public:
    /// Room for every operation; the table is indexed by the internal operation number.
    static constexpr std::size_t capacity = 256;

    /// The model that chains use, and the default.
    [[nodiscard]] static CostModel standard() noexcept;
    /// One cycle for every operation, fused or not.
    [[nodiscard]] static CostModel constant() noexcept;
    /// Nothing costs anything: the cycle limit never stops a run.
    [[nodiscard]] static CostModel zero() noexcept;

    /// A copy in which @p operation costs @p cycles; `invalid_config` if there is none of that
    /// name.
    [[nodiscard]] Result<CostModel> with(std::string_view operation,
                                         std::uint32_t cycles) const noexcept;

    /// The price of @p operation; `invalid_config` if there is none of that name.
    [[nodiscard]] Result<std::uint32_t> cost(std::string_view operation) const noexcept;

    /// The price of the operation with the internal number @p index.
    [[nodiscard]] std::uint32_t operator[](std::uint8_t index) const noexcept
    {
        return m_cycles[index];
    }

    friend bool operator==(const CostModel&, const CostModel&) = default;

private:
    std::array<std::uint32_t, capacity> m_cycles{};
};
}  // namespace mopvm
