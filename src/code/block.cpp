// SPDX-License-Identifier: MIT
// The plain form of blocks.

#include "code/block.hpp"

#include <cstring>

namespace mopvm::code
{
static_assert(sizeof(isa::Operation) <= max_operation_bytes);

constexpr BlockFormat operation_format{
    .write_body =
        [](std::byte* to, const BlockSource& source, const CodeImage&) noexcept {
            std::memcpy(to, source.operations.data(), source.operations.size_bytes());
            return source.operations.size_bytes();
        },
};
}  // namespace mopvm::code
