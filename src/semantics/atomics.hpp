// SPDX-License-Identifier: MIT
/// @file
/// A: LR, SC and AMO at any alignment. SC and AMO check that they may store before all else.
#pragma once

#include "semantics/operands.hpp"

#include <algorithm>
#include <cstdint>
#include <type_traits>

namespace mopvm::semantics::handlers
{
/// Reads a T, signed, and reserves its address.
template <typename T>
[[nodiscard]] Outcome load_reserved(State& state, const isa::Operation& operation) noexcept
{
    const std::uint64_t address = state.x[operation.rs1];
    T value{};
    if (!state.memory.load_atomic(address, value, state.fault)) [[unlikely]]
        return Outcome::fault;
    state.reservation = address;
    return finish(state, operation, static_cast<std::uint64_t>(value));
}

/// Writes rs2 as a T when exactly this address is reserved, by an LR of any width. Otherwise the
/// old value is written back: bytes stay, but pages are checked and marked dirty all the same.
template <typename T>
[[nodiscard]] Outcome store_conditional(State& state, const isa::Operation& operation) noexcept
{
    const std::uint64_t address = state.x[operation.rs1];
    const auto value = static_cast<T>(state.x[operation.rs2]);
    const bool reserved = address == state.reservation;
    const bool accessible = reserved ? state.memory.store(address, value, state.fault)
                                     : state.memory.prepare_store(address, sizeof(T), state.fault);
    if (!accessible) [[unlikely]]
        return Outcome::fault;
    state.reservation = no_reservation;
    return finish(state, operation, reserved ? 0 : 1);
}

/// Replaces the T in memory by `combine(old, rs2)`; rd is the old value, sign-extended.
template <typename T, T combine(T, T) noexcept>
[[nodiscard]] Outcome modify(State& state, const isa::Operation& operation) noexcept
{
    const std::uint64_t address = state.x[operation.rs1];
    const auto source = static_cast<T>(state.x[operation.rs2]);
    T old{};
    if (!state.memory.prepare_store(address, sizeof(T), state.fault) ||
        !state.memory.load_atomic(address, old, state.fault) ||
        !state.memory.store(address, combine(old, source), state.fault)) [[unlikely]]
        return Outcome::fault;
    return finish(state, operation,
                  static_cast<std::uint64_t>(static_cast<std::make_signed_t<T>>(old)));
}

/// What each AMO stores, given the old value and the source.
namespace combine
{
template <typename T>
[[nodiscard]] constexpr T swap(T /*old*/, T source) noexcept
{
    return source;
}
template <typename T>
[[nodiscard]] constexpr T add(T old, T source) noexcept
{
    return old + source;
}
template <typename T>
[[nodiscard]] constexpr T exclusive_or(T old, T source) noexcept
{
    return old ^ source;
}
template <typename T>
[[nodiscard]] constexpr T both(T old, T source) noexcept
{
    return old & source;
}
template <typename T>
[[nodiscard]] constexpr T either(T old, T source) noexcept
{
    return old | source;
}
template <typename T>
[[nodiscard]] constexpr T min_signed(T old, T source) noexcept
{
    using Signed = std::make_signed_t<T>;
    return static_cast<Signed>(old) < static_cast<Signed>(source) ? old : source;
}
template <typename T>
[[nodiscard]] constexpr T max_signed(T old, T source) noexcept
{
    using Signed = std::make_signed_t<T>;
    return static_cast<Signed>(old) > static_cast<Signed>(source) ? old : source;
}
template <typename T>
[[nodiscard]] constexpr T min_unsigned(T old, T source) noexcept
{
    return std::min(old, source);
}
template <typename T>
[[nodiscard]] constexpr T max_unsigned(T old, T source) noexcept
{
    return std::max(old, source);
}
}  // namespace combine

inline constexpr auto lr_w = load_reserved<std::int32_t>;
inline constexpr auto sc_w = store_conditional<std::uint32_t>;
inline constexpr auto amoswap_w = modify<std::uint32_t, combine::swap>;
inline constexpr auto amoadd_w = modify<std::uint32_t, combine::add>;
inline constexpr auto amoxor_w = modify<std::uint32_t, combine::exclusive_or>;
inline constexpr auto amoand_w = modify<std::uint32_t, combine::both>;
inline constexpr auto amoor_w = modify<std::uint32_t, combine::either>;
inline constexpr auto amomin_w = modify<std::uint32_t, combine::min_signed>;
inline constexpr auto amomax_w = modify<std::uint32_t, combine::max_signed>;
inline constexpr auto amominu_w = modify<std::uint32_t, combine::min_unsigned>;
inline constexpr auto amomaxu_w = modify<std::uint32_t, combine::max_unsigned>;

inline constexpr auto lr_d = load_reserved<std::int64_t>;
inline constexpr auto sc_d = store_conditional<std::uint64_t>;
inline constexpr auto amoswap_d = modify<std::uint64_t, combine::swap>;
inline constexpr auto amoadd_d = modify<std::uint64_t, combine::add>;
inline constexpr auto amoxor_d = modify<std::uint64_t, combine::exclusive_or>;
inline constexpr auto amoand_d = modify<std::uint64_t, combine::both>;
inline constexpr auto amoor_d = modify<std::uint64_t, combine::either>;
inline constexpr auto amomin_d = modify<std::uint64_t, combine::min_signed>;
inline constexpr auto amomax_d = modify<std::uint64_t, combine::max_signed>;
inline constexpr auto amominu_d = modify<std::uint64_t, combine::min_unsigned>;
inline constexpr auto amomaxu_d = modify<std::uint64_t, combine::max_unsigned>;
}  // namespace mopvm::semantics::handlers
