// SPDX-License-Identifier: MIT
// Emitting handlers in a process that runs out of memory: at whichever allocation that happens, of
// ours or of asmjit's, there is an error and nothing is leaked. An executable of its own, since it
// replaces the allocation functions; the linker leads malloc and its like here (--wrap).

#include "unit/asm_x64_host.hpp"

#include "asm_x64/self_test.hpp"
#include "machine/backend.hpp"
#include "support/child_process.hpp"

#include <asmjit/asmjit.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <new>
#include <optional>
#include <string>

namespace
{
/// Allocations that still succeed; unlimited by default.
constexpr std::uint64_t unlimited = ~std::uint64_t{0};
thread_local std::uint64_t allocations_left = unlimited;
/// What is allocated and not freed.
thread_local std::int64_t live = 0;

bool may_allocate() noexcept
{
    if (allocations_left == unlimited)
        return true;
    if (allocations_left == 0)
        return false;
    --allocations_left;
    return true;
}

void* counted(void* memory) noexcept
{
    live += memory != nullptr ? 1 : 0;
    return memory;
}
}  // namespace

// NOLINTBEGIN
extern "C" {
void* __real_malloc(std::size_t size);
void* __real_calloc(std::size_t count, std::size_t size);
void* __real_realloc(void* memory, std::size_t size);
void __real_free(void* memory);

void* __wrap_malloc(std::size_t size)
{
    return may_allocate() ? counted(__real_malloc(size)) : nullptr;
}
void* __wrap_calloc(std::size_t count, std::size_t size)
{
    return may_allocate() ? counted(__real_calloc(count, size)) : nullptr;
}
void* __wrap_realloc(void* memory, std::size_t size)
{
    if (!may_allocate())
        return nullptr;
    void* const moved = __real_realloc(memory, size);
    return memory == nullptr ? counted(moved) : moved;
}
void __wrap_free(void* memory)
{
    live -= memory != nullptr ? 1 : 0;
    __real_free(memory);
}
}

namespace
{
void* allocate(std::size_t size, std::size_t alignment = 0) noexcept
{
    if (alignment == 0)
        return std::malloc(size != 0 ? size : 1);
    return may_allocate()
               ? counted(std::aligned_alloc(alignment, (size + alignment) / alignment * alignment))
               : nullptr;
}
void* allocate_or_throw(std::size_t size, std::size_t alignment = 0)
{
    void* const memory = allocate(size, alignment);
    if (memory == nullptr)
        throw std::bad_alloc{};
    return memory;
}
}  // namespace

// clang-format off
[[gnu::noinline]] void* operator new(std::size_t size) { return allocate_or_throw(size); }
[[gnu::noinline]] void* operator new[](std::size_t size) { return allocate_or_throw(size); }
[[gnu::noinline]] void* operator new(std::size_t size, const std::nothrow_t&) noexcept { return allocate(size); }
[[gnu::noinline]] void* operator new[](std::size_t size, const std::nothrow_t&) noexcept { return allocate(size); }
[[gnu::noinline]] void* operator new(std::size_t size, std::align_val_t alignment) { return allocate_or_throw(size, std::size_t(alignment)); }
[[gnu::noinline]] void* operator new[](std::size_t size, std::align_val_t alignment) { return allocate_or_throw(size, std::size_t(alignment)); }
[[gnu::noinline]] void* operator new(std::size_t size, std::align_val_t alignment, const std::nothrow_t&) noexcept { return allocate(size, std::size_t(alignment)); }
[[gnu::noinline]] void* operator new[](std::size_t size, std::align_val_t alignment, const std::nothrow_t&) noexcept { return allocate(size, std::size_t(alignment)); }
[[gnu::noinline]] void operator delete(void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete[](void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete[](void* memory, std::size_t) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, const std::nothrow_t&) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete[](void* memory, const std::nothrow_t&) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::align_val_t) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete[](void* memory, std::align_val_t) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::size_t, std::align_val_t) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete[](void* memory, std::size_t, std::align_val_t) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::align_val_t, const std::nothrow_t&) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete[](void* memory, std::align_val_t, const std::nothrow_t&) noexcept { std::free(memory); }
// clang-format on
// NOLINTEND

namespace mopvm::test
{
namespace
{
using asm_x64::chosen_sequences;
using asm_x64::Handlers;

/// While it lives, allocations fail behind the first @p count.
class OutOfMemoryAfter
{
public:
    explicit OutOfMemoryAfter(std::uint64_t count) { allocations_left = count; }
    ~OutOfMemoryAfter() { allocations_left = unlimited; }
    OutOfMemoryAfter(const OutOfMemoryAfter&) = delete;
    OutOfMemoryAfter& operator=(const OutOfMemoryAfter&) = delete;

    /// True when one has failed, or would be the next to.
    [[nodiscard]] static bool ran_out() { return allocations_left == 0; }
};

/// How an attempt ended, in words that need no memory.
enum class Ending : std::uint8_t
{
    done,
    refused,   ///< An error with a text.
    no_memory  ///< std::bad_alloc
};

struct Attempt
{
    Ending ending = Ending::done;
    bool ran_out = false;
};

template <typename Action>
Attempt attempt(std::uint64_t allocations, const Action& action)
{
    Attempt made;
    const OutOfMemoryAfter limit{allocations};
    try {
        const std::string error = action();
        made.ending = error.empty() ? Ending::done : Ending::refused;
    } catch (const std::bad_alloc&) {
        made.ending = Ending::no_memory;
    }
    made.ran_out = OutOfMemoryAfter::ran_out();
    return made;
}

TEST(AsmAllocation, of_handlers_is_undone_with_them)
{
    const std::int64_t before = live;
    auto handlers = std::make_optional(Handlers::emit(chosen_sequences(), {.host = counting_host}));
    ASSERT_TRUE(*handlers);
    EXPECT_GT(live, before);
    handlers.reset();
    EXPECT_EQ(live, before);
}

TEST(AsmAllocation, of_asmjit_can_be_made_to_fail)
{
    asmjit::CodeHolder code;
    ASSERT_EQ(code.init(asmjit::Environment::host()), asmjit::kErrorOk);
    asmjit::x86::Assembler a{&code};
    const OutOfMemoryAfter limit{0};
    EXPECT_EQ(a.nop(), asmjit::kErrorOutOfMemory);
}

TEST(AsmAllocation, of_an_emission_may_fail_anywhere)
{
    std::uint64_t allocations = 0;
    for (bool ran_out = true; ran_out; ++allocations) {
        ASSERT_LT(allocations, 10'000U);
        CountingHost::reset();
        const std::int64_t before = live;
        const Attempt made = attempt(allocations, [] {
            const auto handlers = Handlers::emit(chosen_sequences(), {.host = counting_host});
            return handlers ? std::string{} : handlers.error();
        });
        ASSERT_EQ(live, before) << "leaked, with memory for " << allocations << " allocations";
        ASSERT_EQ(CountingHost::mapped, CountingHost::unmapped);
        // Who needed the memory that there was not cannot have succeeded.
        ran_out = made.ending != Ending::done;
        ASSERT_TRUE(made.ran_out || !ran_out);
    }
    std::cout << allocations << " allocations\n";
    EXPECT_GT(allocations, 20U);
}

TEST(AsmAllocation, of_the_start_up_test_may_fail_anywhere)
{
    const auto handlers = Handlers::emit(chosen_sequences(), {.host = counting_host});
    ASSERT_TRUE(handlers);
    Ending ending = Ending::no_memory;
    for (std::uint64_t allocations = 0; ending != Ending::done; ++allocations) {
        ASSERT_LT(allocations, 10'000U);
        const std::int64_t before = live;
        ending =
            attempt(allocations, [&] { return self_test(*handlers, chosen_sequences()); }).ending;
        ASSERT_EQ(live, before);
        ASSERT_NE(ending, Ending::refused) << "no handler is wrong, whatever memory there is";
    }
}

/// The engine is not there then, and says why; the best that is left is another. In processes of
/// their own, as each emits once.
TEST(AsmAllocation, of_the_first_machine_may_fail_anywhere)
{
    enum Status
    {
        usable = 10,
        unusable,
    };
    bool was_usable = false;
    for (std::uint64_t allocations = 0; !was_usable; allocations += 1 + allocations / 8) {
        ASSERT_LT(allocations, 10'000U);
        const int status = status_of_child([&] {
            std::string_view why_not;
            {
                const OutOfMemoryAfter limit{allocations};
                why_not = built_in_backends().front()->why_not();
            }
            const auto best = find_backend("auto");
            if (why_not.empty())
                return best && (*best)->name == "asm" ? usable : 1;
            const auto refused = find_backend("asm");
            if (refused || refused.error().code != ErrorCode::backend_unavailable)
                return 2;
            if (refused.error().text != "asm: " + std::string{why_not})
                return 3;
            return best && (*best)->name == "interpreter" ? unusable : 4;
        });
        ASSERT_TRUE(status == usable || status == unusable)
            << "status " << status << " with memory for " << allocations << " allocations";
        was_usable = status == usable;
        EXPECT_TRUE(allocations != 0 || status == unusable);
    }
}
}  // namespace
}  // namespace mopvm::test
