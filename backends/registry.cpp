// SPDX-License-Identifier: MIT
// The engines that are built in, the best first.

#include "interpreter/interpreter.hpp"
#include "machine/backend.hpp"

#include <array>

namespace mopvm
{
std::span<const Backend* const> built_in_backends() noexcept
{
    static constexpr std::array<const Backend*, 1> built_in{&interpreter::backend};
    return built_in;
}
}  // namespace mopvm
