// SPDX-License-Identifier: MIT
// Walking through code.

#include "listing.hpp"

#include "text.hpp"

#include <algorithm>
#include <array>

namespace mopvm::tool
{
namespace
{
constexpr std::size_t longest_window = fusion::max_parts * 4;

[[nodiscard]] std::uint32_t half_at(std::span<const std::byte> code, std::size_t offset) noexcept
{
    return std::to_integer<std::uint32_t>(code[offset]) |
           std::to_integer<std::uint32_t>(code[offset + 1]) << 8;
}

[[nodiscard]] Parcel parcel_at(std::span<const std::byte> code,
                               std::uint64_t address,
                               const decoder::Isa& isa) noexcept
{
    if (code.size() < 2)
        return {.address = address, .bits = std::to_integer<std::uint32_t>(code[0]), .length = 1};
    const auto low = half_at(code, 0);
    const bool cut = !decoder::is_compressed(low) && code.size() < 4;
    if (decoder::is_compressed(low) || cut)
        return {.address = address,
                .bits = low,
                .length = 2,
                .instruction = cut ? isa::Instruction{} : decoder::decode(low, isa)};
    const auto bits = low | half_at(code, 2) << 16;
    return {
        .address = address, .bits = bits, .length = 4, .instruction = decoder::decode(bits, isa)};
}
}  // namespace

decoder::Isa isa_of(const Config& config) noexcept
{
    return {.version = config.version, .b = config.isa_b, .a = config.isa_a};
}

void Sweep::fill(std::size_t count)
{
    while (m_ahead.size() < count && m_offset != m_code.size()) {
        m_ahead.push_back(parcel_at(m_code.subspan(m_offset), m_base + m_offset, m_isa));
        m_offset += m_ahead.back().length;
    }
}

std::optional<Group> Sweep::next()
{
    fill(1);
    if (m_ahead.empty())
        return std::nullopt;
    Group group;
    std::size_t parts = 1;
    if (m_fusion) {
        fill(fusion::window_size(m_ahead.front().instruction.opcode, m_isa.version));
        std::array<isa::Instruction, fusion::max_parts> window{};
        const auto length = std::min(m_ahead.size(), window.size());
        for (std::size_t i = 0; i != length; ++i)
            window[i] = m_ahead[i].instruction;
        if (const auto fused = fusion::fuse(std::span{window}.first(length),
                                            m_ahead.front().address, m_isa.version))
        {
            parts = fused->parts;
            group.rule = fused->opcode;
        }
    }
    const auto end = m_ahead.begin() + static_cast<std::ptrdiff_t>(parts);
    group.parts.assign(m_ahead.begin(), end);
    m_ahead.erase(m_ahead.begin(), end);
    return group;
}

std::string spell(const Parcel& parcel,
                  const decoder::Isa& isa,
                  decoder::Spelling spelling,
                  const std::function<std::string(std::uint64_t)>& name)
{
    if (parcel.length == 1)
        return ".byte " + hex(parcel.bits);
    if (parcel.length == 2 && !decoder::is_compressed(parcel.bits))
        return ".half " + hex(parcel.bits);
    const auto line = decoder::disassemble(parcel.bits, parcel.address, isa, spelling);
    return line.text(line.target ? name(*line.target) : std::string{});
}

std::string describe_operation(Machine& machine, std::uint64_t pc)
{
    const auto memory = machine.memory();
    const auto& config = machine.config();
    // As far as code reaches: a page that is not executable ends it.
    std::vector<std::byte> code;
    while (code.size() < longest_window && pc + code.size() >= pc) {
        const auto address = pc + code.size();
        const auto flags = memory.flags(address / page_size);
        const auto byte = memory.view(address, 1);
        if (!flags || !byte || (*flags & page_flag::executable) == 0)
            break;
        code.push_back(byte->front());
    }
    Sweep sweep{code, pc, isa_of(config), config.fusion};
    const auto group = sweep.next();
    if (!group || group->parts.front().length == 1)
        return {};
    std::string text;
    for (const auto& part : group->parts) {
        text += (text.empty() ? "" : "; ") + spell(part, isa_of(config), decoder::Spelling::aliases,
                                                   [](std::uint64_t) { return std::string{}; });
    }
    if (group->rule)
        text = std::string{isa::traits(*group->rule).mnemonic} + ": " + text;
    return text;
}
}  // namespace mopvm::tool
