// SPDX-License-Identifier: MIT
// The engines that are built in, the best first.

#ifdef MOPVM_BACKEND_ASM_X64
#include "asm_x64/engine.hpp"
#endif
#include "interpreter/interpreter.hpp"
#include "machine/backend.hpp"

#include <array>

namespace mopvm
{
std::span<const Backend* const> built_in_backends() noexcept
{
    static constexpr auto built_in = std::to_array<const Backend*>({
#ifdef MOPVM_BACKEND_ASM_X64
        &asm_x64::backend,
#endif
        &interpreter::backend,
    });
    return built_in;
}
}  // namespace mopvm
