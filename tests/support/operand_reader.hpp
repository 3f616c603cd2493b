// SPDX-License-Identifier: MIT
/// @file
/// From the operands of a disassembly back to fields.
#pragma once

#include "isa/instruction.hpp"
#include "isa/registers.hpp"
#include "isa/spelling.hpp"

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <system_error>

namespace mopvm::test
{
/// Reads operands that were written by a form of `isa/spelling.hpp`.
class OperandReader
{
public:
    explicit OperandReader(std::string_view text) : m_text{text} {}

    /// The fields that @p form shows, all others 0; nothing unless the whole text is of that form.
    [[nodiscard]] std::optional<isa::Instruction> read(std::string_view form)
    {
        isa::Instruction fields;
        for (const char letter : form)
            if (!read_field(letter, fields))
                return std::nullopt;
        if (!m_text.empty())
            return std::nullopt;
        return fields;
    }

private:
    bool read_field(char letter, isa::Instruction& fields)
    {
        switch (letter) {
        case 'd':
            return read_register([&](std::uint8_t reg) { fields.rd = reg; });
        case 's':
            return read_register([&](std::uint8_t reg) { fields.rs1 = reg; });
        case 't':
            return read_register([&](std::uint8_t reg) { fields.rs2 = reg & 31; });
        case 'i':
            return read_number(10, fields.imm);
        case 'x':
            return read_hex(fields.imm, 0);
        case 'u':
            return read_hex(fields.imm, 12);
        case 'f': {
            const auto before = read_fence_set();
            if (!before || !read_letter(','))
                return false;
            const auto behind = read_fence_set();
            fields.imm = *before << 4 | behind.value_or(0);
            return behind.has_value();
        }
        default:
            return read_letter(letter);
        }
    }

    bool read_letter(char letter)
    {
        if (!m_text.starts_with(letter))
            return false;
        m_text.remove_prefix(1);
        return true;
    }

    template <typename Take>
    bool read_register(const Take& take)
    {
        const std::string_view word = m_text.substr(0, m_text.find_first_of(",()"));
        const auto found = std::ranges::find(isa::register_names, word);
        if (found == isa::register_names.end())
            return false;
        take(static_cast<std::uint8_t>(found - isa::register_names.begin()));
        m_text.remove_prefix(word.size());
        return true;
    }

    template <typename Number>
    bool read_number(int base, Number& number)
    {
        const auto [end, error] =
            std::from_chars(m_text.data(), m_text.data() + m_text.size(), number, base);
        m_text.remove_prefix(static_cast<std::size_t>(end - m_text.data()));
        return error == std::errc{};
    }

    bool read_hex(std::int32_t& number, unsigned shift)
    {
        std::uint32_t bits = 0;
        if (!read_letter('0') || !read_letter('x') || !read_number(16, bits))
            return false;
        number = static_cast<std::int32_t>(bits << shift);
        return true;
    }

    /// `iorw`, some of these letters in this order, or `unknown` for none.
    std::optional<std::int32_t> read_fence_set()
    {
        constexpr std::string_view none = "unknown";
        if (m_text.starts_with(none)) {
            m_text.remove_prefix(none.size());
            return 0;
        }
        std::int32_t set = 0;
        for (std::int32_t bit = 8; bit != 0; bit >>= 1)
            if (read_letter("?wr?o???i"[bit]))
                set |= bit;
        return set == 0 ? std::nullopt : std::optional{set};
    }

    std::string_view m_text;
};
}  // namespace mopvm::test
