// SPDX-License-Identifier: MIT
// The global allocation functions, counting.

#include "support/allocation_counter.hpp"

#include <malloc.h>

#include <cstdlib>
#include <limits>
#include <new>

namespace
{
constexpr std::size_t unlimited = std::numeric_limits<std::size_t>::max();
/// Allocations that still succeed.
thread_local std::size_t allocations_left = unlimited;
}  // namespace

namespace mopvm::test
{
thread_local Allocations allocations;

OutOfMemoryAfter::OutOfMemoryAfter(std::size_t count) noexcept
{
    allocations_left = count;
}

OutOfMemoryAfter::~OutOfMemoryAfter()
{
    allocations_left = unlimited;
}
}  // namespace mopvm::test

namespace
{
using mopvm::test::allocations;

bool may_allocate() noexcept
{
    if (allocations_left == 0)
        return false;
    if (allocations_left != unlimited)
        --allocations_left;
    return true;
}

void* allocate(std::size_t size, std::size_t alignment = __STDCPP_DEFAULT_NEW_ALIGNMENT__) noexcept
{
    if (!may_allocate())
        return nullptr;
    void* const memory = std::aligned_alloc(alignment, (size + alignment) / alignment * alignment);
    ++allocations.made;
    if (memory != nullptr) {
        ++allocations.live;
        allocations.live_bytes += static_cast<std::int64_t>(::malloc_usable_size(memory));
    }
    return memory;
}

void* allocate_or_throw(std::size_t size, std::size_t alignment = __STDCPP_DEFAULT_NEW_ALIGNMENT__)
{
    void* const memory = allocate(size, alignment);
    if (memory == nullptr)
        throw std::bad_alloc{};
    return memory;
}

void release(void* memory) noexcept
{
    if (memory != nullptr) {
        --allocations.live;
        allocations.live_bytes -= static_cast<std::int64_t>(::malloc_usable_size(memory));
    }
    std::free(memory);  // NOLINT(cppcoreguidelines-no-malloc)
}
}  // namespace

// All forms: sanitizers replace each by itself, and one of theirs must not meet one of these. Not
// inlined: g++ warns of a pair of which it sees one half.
// clang-format off
// NOLINTBEGIN(cppcoreguidelines-no-malloc,readability-named-parameter,clang-analyzer-cplusplus.NewDelete)
[[gnu::noinline]] void* operator new(std::size_t size) { return allocate_or_throw(size); }
[[gnu::noinline]] void* operator new[](std::size_t size) { return allocate_or_throw(size); }
[[gnu::noinline]] void* operator new(std::size_t size, const std::nothrow_t&) noexcept { return allocate(size); }
[[gnu::noinline]] void* operator new[](std::size_t size, const std::nothrow_t&) noexcept { return allocate(size); }
[[gnu::noinline]] void* operator new(std::size_t size, std::align_val_t alignment) { return allocate_or_throw(size, std::size_t(alignment)); }
[[gnu::noinline]] void* operator new[](std::size_t size, std::align_val_t alignment) { return allocate_or_throw(size, std::size_t(alignment)); }
[[gnu::noinline]] void* operator new(std::size_t size, std::align_val_t alignment, const std::nothrow_t&) noexcept { return allocate(size, std::size_t(alignment)); }
[[gnu::noinline]] void* operator new[](std::size_t size, std::align_val_t alignment, const std::nothrow_t&) noexcept { return allocate(size, std::size_t(alignment)); }
[[gnu::noinline]] void operator delete(void* memory) noexcept { release(memory); }
[[gnu::noinline]] void operator delete[](void* memory) noexcept { release(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept { release(memory); }
[[gnu::noinline]] void operator delete[](void* memory, std::size_t) noexcept { release(memory); }
[[gnu::noinline]] void operator delete(void* memory, const std::nothrow_t&) noexcept { release(memory); }
[[gnu::noinline]] void operator delete[](void* memory, const std::nothrow_t&) noexcept { release(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::align_val_t) noexcept { release(memory); }
[[gnu::noinline]] void operator delete[](void* memory, std::align_val_t) noexcept { release(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::size_t, std::align_val_t) noexcept { release(memory); }
[[gnu::noinline]] void operator delete[](void* memory, std::size_t, std::align_val_t) noexcept { release(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::align_val_t, const std::nothrow_t&) noexcept { release(memory); }
[[gnu::noinline]] void operator delete[](void* memory, std::align_val_t, const std::nothrow_t&) noexcept { release(memory); }
// NOLINTEND(cppcoreguidelines-no-malloc,readability-named-parameter,clang-analyzer-cplusplus.NewDelete)
// clang-format on
