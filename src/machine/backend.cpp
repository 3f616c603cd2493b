// SPDX-License-Identifier: MIT
// Choosing among the engines that are built in.

#include "machine/backend.hpp"

#include <mopvm/machine.hpp>

#include <array>
#include <cassert>
#include <string>
#include <utility>

namespace mopvm
{
Result<const Backend*> find_backend(std::string_view name)
{
    std::string why = std::string{name} + " is not built in";
    for (const Backend* backend : built_in_backends()) {
        if (name != "auto" && name != backend->name)
            continue;
        const std::string_view why_not = backend->why_not();
        if (why_not.empty())
            return backend;
        why = std::string{backend->name} + ": " + std::string{why_not};
    }
    return std::unexpected{Error{.code = ErrorCode::backend_unavailable, .text = std::move(why)}};
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
            if (backend->why_not().empty())
                found.names[found.count++] = backend->name;
        }
        return found;
    }();
    return std::span{usable.names}.first(usable.count);
}
}  // namespace mopvm
