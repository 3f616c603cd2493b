// SPDX-License-Identifier: MIT
// Walking over a program's code.

#include "sweep.hpp"

#include "elf/image.hpp"

#include <cstddef>
#include <cstring>
#include <span>

namespace mopvm::bench
{
namespace
{
constexpr std::size_t halfword = 2;

/// The instruction bits at @p offset, 0 when only half of them are there.
std::uint32_t bits_at(std::span<const std::byte> code, std::size_t offset)
{
    std::uint16_t low = 0;
    std::memcpy(&low, code.data() + offset, halfword);
    if (decoder::is_compressed(low))
        return low;
    if (code.size() - offset < 2 * halfword)
        return 0;
    std::uint32_t bits = 0;
    std::memcpy(&bits, code.data() + offset, 2 * halfword);
    return bits;
}
}  // namespace

std::vector<Word> sweep(const Program& program)
{
    std::vector<Word> words;
    for (const Segment& segment : program.segments()) {
        if ((segment.elf_flags & elf::segment_flag::execute) == 0)
            continue;
        const auto code = program.file().subspan(segment.file_offset, segment.file_size);
        const std::uint64_t base = segment.address + segment.padding;
        for (std::size_t offset = 0; code.size() - offset >= halfword;) {
            const std::uint32_t bits = bits_at(code, offset);
            const isa::Instruction instruction = decoder::decode(bits, sweep_isa);
            if (instruction.opcode == isa::Opcode::invalid) {
                offset += halfword;
                continue;
            }
            words.push_back({base + offset, bits, instruction});
            offset += instruction.length;
        }
    }
    return words;
}
}  // namespace mopvm::bench
