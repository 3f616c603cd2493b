// SPDX-License-Identifier: MIT
/// @file
/// Poison: memory that nobody may use now though it is mapped, for AddressSanitizer to report who
/// does. In other builds nothing here does anything.
#pragma once

#include <cstddef>

#if defined(__SANITIZE_ADDRESS__)
#define MOPVM_POISON 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define MOPVM_POISON 1
#endif
#endif

#if defined(MOPVM_POISON)
#include <sanitizer/asan_interface.h>
#endif

namespace mopvm::support
{
/// From now on nobody may use @p bytes at @p begin.
inline void poison([[maybe_unused]] const void* begin, [[maybe_unused]] std::size_t bytes) noexcept
{
#if defined(MOPVM_POISON)
    ASAN_POISON_MEMORY_REGION(begin, bytes);
#endif
}

/// From now on they may be used again.
inline void unpoison([[maybe_unused]] const void* begin,
                     [[maybe_unused]] std::size_t bytes) noexcept
{
#if defined(MOPVM_POISON)
    ASAN_UNPOISON_MEMORY_REGION(begin, bytes);
#endif
}
}  // namespace mopvm::support
