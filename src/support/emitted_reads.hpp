// SPDX-License-Identifier: MIT
/// @file
/// What emitted code reads, for ThreadSanitizer, which does not see it read.
#pragma once

#include <atomic>
#include <cstdint>

namespace mopvm::support
{
#if defined(__SANITIZE_THREAD__)
inline constexpr bool thread_sanitizer = true;
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
inline constexpr bool thread_sanitizer = true;
#else
inline constexpr bool thread_sanitizer = false;
#endif
#else
inline constexpr bool thread_sanitizer = false;
#endif

namespace detail
{
inline std::atomic<std::uint32_t> published_for_emitted_code = 0;
}

/// To be called behind each release that emitted code may be the one to acquire.
inline void published_for_emitted_code() noexcept
{
    if constexpr (thread_sanitizer)
        detail::published_for_emitted_code.fetch_add(1, std::memory_order_release);
}

/// To be called in front of reading what emitted code has found.
inline void found_by_emitted_code() noexcept
{
    if constexpr (thread_sanitizer)
        static_cast<void>(detail::published_for_emitted_code.load(std::memory_order_acquire));
}
}  // namespace mopvm::support
