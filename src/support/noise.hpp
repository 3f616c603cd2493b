// SPDX-License-Identifier: MIT
/// @file
/// Noise: what memory without a meaning holds in builds with MOPVM_NOISE, so that whoever reads it
/// is found out. In other builds nothing here does anything. docs/testing.md lists all places.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace mopvm::support
{
#if defined(MOPVM_NOISE)
inline constexpr bool noise = true;
#else
inline constexpr bool noise = false;
#endif

namespace detail
{
inline std::atomic<std::uint8_t> next_noise = 0xa1;
}

/// What a spare word holds; as an address it leads nowhere on any 64-bit host. No byte of noise is
/// 0 or even.
inline constexpr std::uint64_t spare_word = noise ? 0xa9a7'a5a3'a1af'adab : 0;

/// What a spare pointer holds: null but for noise.
template <typename T>
[[nodiscard]] T* spare_pointer() noexcept
{
    if constexpr (noise)
        return reinterpret_cast<T*>(spare_word);  // NOLINT(performance-no-int-to-ptr)
    else
        return nullptr;
}

/// Fills @p bytes at @p begin with a noise that differs from that of the last calls.
inline void fill_with_noise([[maybe_unused]] void* begin,
                            [[maybe_unused]] std::size_t bytes) noexcept
{
    if constexpr (noise)
        std::memset(begin, detail::next_noise.fetch_add(2, std::memory_order_relaxed), bytes);
}
}  // namespace mopvm::support
