// SPDX-License-Identifier: MIT
/// @file
/// Loads and stores: any address, any alignment, with the checks of docs/memory.md.
#pragma once

#include "semantics/operands.hpp"

#include <cstdint>

namespace mopvm::semantics::handlers
{
/// Reads a T, sign- or zero-extended as T says. With rd = x0 the access and its checks remain.
template <typename T>
[[nodiscard]] Outcome load(State& state, const isa::Operation& operation) noexcept
{
    T value{};
    if (!state.memory.load(effective_address(state, operation), value, state.fault)) [[unlikely]]
        return Outcome::fault;
    return finish(state, operation, static_cast<std::uint64_t>(value));
}

/// Writes the low bits of rs2, as many as T has.
template <typename T>
[[nodiscard]] Outcome store(State& state, const isa::Operation& operation) noexcept
{
    const auto value = static_cast<T>(state.x[operation.rs2]);
    if (!state.memory.store(effective_address(state, operation), value, state.fault)) [[unlikely]]
        return Outcome::fault;
    return advance(state, operation);
}

inline constexpr auto lb = load<std::int8_t>;
inline constexpr auto lh = load<std::int16_t>;
inline constexpr auto lw = load<std::int32_t>;
inline constexpr auto ld = load<std::uint64_t>;
inline constexpr auto lbu = load<std::uint8_t>;
inline constexpr auto lhu = load<std::uint16_t>;
inline constexpr auto lwu = load<std::uint32_t>;

inline constexpr auto sb = store<std::uint8_t>;
inline constexpr auto sh = store<std::uint16_t>;
inline constexpr auto sw = store<std::uint32_t>;
inline constexpr auto sd = store<std::uint64_t>;
}  // namespace mopvm::semantics::handlers
