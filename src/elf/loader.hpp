// SPDX-License-Identifier: MIT
/// @file
/// Placing a program's segments in guest memory.
#pragma once

#include "elf/image.hpp"
#include "memory/space.hpp"

#include <mopvm/config.hpp>

namespace mopvm::elf
{
/// Loads the segments of @p image in table order into @p space with the page flags of @p version.
/// @p file is what @p image was parsed from. Stops at the first segment that is refused: with
/// `mem_out_of_bound`, `mem_write_on_frozen_page`, or in version 0 `mem_write_on_executable_page`;
/// or with `out_of_memory`. Takes time in proportion to the number of segments and the memory size,
/// however the segments overlap.
[[nodiscard]] Result<void> load(const Image& image,
                                std::span<const std::byte> file,
                                memory::Space& space,
                                Version version) noexcept;
}  // namespace mopvm::elf
