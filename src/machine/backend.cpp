// SPDX-License-Identifier: MIT
// Choosing among the engines that are built in.

#include "machine/backend.hpp"

#include <mopvm/machine.hpp>

#include <array>
#include <cassert>

namespace mopvm
{
const Backend* find_backend(std::string_view name) noexcept
{
    for (const Backend* backend : built_in_backends()) {
        if ((name == "auto" || name == backend->name) && backend->supported())
            return backend;
    }
    return nullptr;
}

std::span<const std::string_view> backends() noexcept
{
    static constexpr std::size_t most = 8;
    struct Names
    {
        std::array<std::string_view, most> names;
        std::size_t count = 0;
    };
    static const Names usable = []() noexcept {
        Names found;
        for (const Backend* backend : built_in_backends()) {
            assert(found.count < most);
            if (backend->supported())
                found.names[found.count++] = backend->name;
        }
        return found;
    }();
    return std::span{usable.names}.first(usable.count);
}
}  // namespace mopvm
