// SPDX-License-Identifier: MIT
/// @file
/// Counts what is allocated by `new`, and lets it fail. An executable that uses it replaces the
/// global allocation functions by linking allocation_counter.cpp.
#pragma once

#include <cstddef>
#include <cstdint>

namespace mopvm::test
{
/// What one thread has allocated so far.
struct Allocations
{
    std::size_t made = 0;
    std::int64_t live = 0;        ///< Those that have not been freed.
    std::int64_t live_bytes = 0;  ///< What they take of the host's heap.
};
extern thread_local Allocations allocations;

/// While one lives, the thread's allocations fail behind the first @p count.
class OutOfMemoryAfter
{
public:
    explicit OutOfMemoryAfter(std::size_t count) noexcept;
    ~OutOfMemoryAfter();
    OutOfMemoryAfter(const OutOfMemoryAfter&) = delete;
    OutOfMemoryAfter& operator=(const OutOfMemoryAfter&) = delete;
};
}  // namespace mopvm::test
