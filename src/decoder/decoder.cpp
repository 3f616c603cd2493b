// SPDX-License-Identifier: MIT
// The decoder as a function.
#include "decoder/decoder.hpp"

#include "decoder/inline.hpp"

namespace mopvm::decoder
{
isa::Instruction decode(std::uint32_t bits, const Isa& isa) noexcept
{
    return isa::unpack(decode_inline(bits, features(isa)));
}
}  // namespace mopvm::decoder
