// SPDX-License-Identifier: MIT
/// @file
/// A host for emitted code that counts what it gives and changes the code that it is given.
#pragma once

#include "asm_x64/handlers.hpp"

#include <cstddef>
#include <functional>
#include <span>

namespace mopvm::test
{
/// The system's memory, counted. What it does is one process's, as the host's functions have no
/// state; whoever uses it begins with `reset`.
struct CountingHost
{
    static inline int mapped = 0;
    static inline int unmapped = 0;
    static inline std::span<std::byte> last{};  ///< What was mapped last.
    /// Called with the code before it is protected.
    static inline std::function<void(std::span<std::byte>)> change{};

    static void reset()
    {
        mapped = unmapped = 0;
        last = {};
        change = {};
    }

    static std::byte* map(std::size_t size) noexcept
    {
        std::byte* const memory = asm_x64::HostCode::system().map(size);
        last = {memory, size};
        mapped += memory != nullptr ? 1 : 0;
        return memory;
    }
    static bool protect(std::byte* memory, std::size_t size) noexcept
    {
        if (change)
            change({memory, size});
        return asm_x64::HostCode::system().protect(memory, size);
    }
    static void unmap(std::byte* memory, std::size_t size) noexcept
    {
        ++unmapped;
        asm_x64::HostCode::system().unmap(memory, size);
    }
};

inline constexpr asm_x64::HostCode::Host counting_host{
    .map = CountingHost::map,
    .protect = CountingHost::protect,
    .unmap = CountingHost::unmap,
};
}  // namespace mopvm::test
