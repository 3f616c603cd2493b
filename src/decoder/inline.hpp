// SPDX-License-Identifier: MIT
/// @file
/// The decoder itself: look-ups in tables. What the next instruction is cannot be predicted, so
/// hardly anything is decided by branches. Inline for whom all code passes through.
#pragma once

#include "decoder/decoder.hpp"
#include "decoder/halfwords.hpp"
#include "decoder/words.hpp"

namespace mopvm::decoder
{
namespace detail
{
/// Decodes a 32-bit instruction.
[[nodiscard]] inline isa::PackedInstruction decode_word(std::uint32_t bits,
                                                        Features available) noexcept
{
    const WordGroup& group = word_groups[word_key(bits)];
    const WordRow* row = &words.rows[words.first_rows[slot_in(group, bits)]];
    while (!row->accepts(bits, available)) [[unlikely]]
        row = &words.rows[row->next];
    return {.word = isa::join(row->opcode_and_length, row->registers.extract(bits)),
            .imm = row->immediate.extract(bits)};
}

/// Decodes a 16-bit instruction; the upper half of @p bits does not matter.
[[nodiscard]] inline isa::PackedInstruction decode_halfword(std::uint32_t bits,
                                                            bool version_0) noexcept
{
    const std::size_t number = halfword_groups[halfword_key(bits)].find(bits);
    const HalfwordRow& row = halfword_rows[number];
    const std::uint64_t fields = combine(halfword_fields[row.fields], bits);
    return {.word = isa::join(version_0 ? row.version_0 : row.from_1,
                              static_cast<std::uint32_t>(fields)),
            .imm = static_cast<std::int32_t>(fields >> 32)};
}
}  // namespace detail

/// The same as `decode` where @p available is there; behind a halfword @p bits may have anything.
[[nodiscard]] inline isa::PackedInstruction decode_inline(std::uint32_t bits,
                                                          Features available) noexcept
{
    if (is_compressed(bits))
        return detail::decode_halfword(bits, (available & detail::before_1) != 0);
    return detail::decode_word(bits, available);
}
}  // namespace mopvm::decoder
