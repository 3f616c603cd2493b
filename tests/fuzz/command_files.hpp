// SPDX-License-Identifier: MIT
/// @file
/// The files that the fuzz target `command` finds in its folder. Every program among them ends
/// after at most some thousand operations, so that no limit is needed; none writes `{`.
#pragma once

#include "support/assembler.hpp"
#include "support/choices.hpp"
#include "support/elf_builder.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace mopvm::test
{
/// The exit code of `hello.elf`; the others that exit do so with 0.
inline constexpr int hello_code = 3;

/// System calls that the programs use.
namespace posix_call
{
inline constexpr std::uint64_t read = 63;
inline constexpr std::uint64_t write = 64;
inline constexpr std::uint64_t debug_print = 2177;
}  // namespace posix_call

[[nodiscard]] inline std::string to_text(const std::vector<std::byte>& bytes)
{
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

/// A program of @p code with @p text at 0x20000.
[[nodiscard]] inline std::vector<std::byte> program(const Assembler& code, std::string_view text)
{
    std::vector<std::byte> data;
    for (const char c : text)
        data.push_back(static_cast<std::byte>(c));
    data.push_back(std::byte{0});
    return build({.segments = {{.bytes = code.code()},
                               {.vaddr = 0x20000,
                                .flags = elf_flag::data,
                                .bytes = std::move(data),
                                .memsz = 0x1000}}});
}

/// Writes a line to stdout and one to stderr.
[[nodiscard]] inline std::vector<std::byte> hello_program()
{
    Assembler as;
    for (const int fd : {1, 2}) {
        as.li(a0, static_cast<std::uint64_t>(fd));
        as.li(a1, 0x20000);
        as.li(a2, 6);
        as.li(a7, posix_call::write);
        as.ecall();
    }
    as.exit(hello_code);
    return program(as, "hello\n");
}

/// Copies some of its input to stderr.
[[nodiscard]] inline std::vector<std::byte> echo_program()
{
    Assembler as;
    as.li(a0, 0);
    as.li(a1, 0x20800);
    as.li(a2, 40);
    as.li(a7, posix_call::read);
    as.ecall();
    as.mv(a2, a0);
    as.li(a0, 2);
    as.li(a7, posix_call::write);
    as.ecall();
    as.exit(0);
    return program(as, "");
}

/// Prints @p text by the debug call of the chain, in a loop full of what fuses.
[[nodiscard]] inline std::vector<std::byte> fused_program(std::string_view text)
{
    Assembler as;
    as.li(s0, 300);
    const auto again = as.bound_label();
    as.mulhu(t0, s0, a1);
    as.mul(t1, s0, a1);
    as.add(t2, t0, t1);
    as.sltu(t3, t2, t0);
    as.lui(a1, 0x12345);
    as.addiw(a1, a1, 7);
    as.addi(s0, s0, -1);
    as.bnez(s0, again);
    as.li(a0, 0x20000);
    as.li(a7, posix_call::debug_print);
    as.ecall();
    as.exit(0);
    return program(as, text);
}

/// Ends by an error of the machine.
[[nodiscard]] inline std::vector<std::byte> faulting_program()
{
    Assembler as;
    as.li(t0, 0x7ffffff0);
    as.ld(a0, 0, t0);
    return program(as, "");
}

/// @p file with one field set to @p value.
template <typename T>
[[nodiscard]] std::string with(std::vector<std::byte> file, std::size_t offset, T value)
{
    put(file, offset, value);
    return to_text(file);
}

[[nodiscard]] inline std::map<std::string, std::string> command_files()
{
    const auto hello = hello_program();
    return {
        {"hello.elf", to_text(hello)},
        {"echo.elf", to_text(echo_program())},
        {"fused.elf", to_text(fused_program("sums"))},
        {"bytes.elf", to_text(fused_program("\xff\xfe"))},
        {"fault.elf", to_text(faulting_program())},
        {"empty.elf", ""},
        {"text.elf", "no program\n"},
        {"cut.elf", to_text(hello).substr(0, 70)},
        {"narrow.elf", with(hello, elf_at::class_, std::uint8_t{1})},
        {"entry.elf", with(hello, elf_at::entry, std::uint64_t{0x10001})},
        {"open.elf", with(hello, program_header_at(0, elf_at::p_flags), std::uint32_t{7})},
        {"huge.elf", with(hello, program_header_at(1, elf_at::p_memsz), std::uint64_t{1} << 40)},
        {"input.txt", "some input\n"},
    };
}

/// `hello.elf` with sections, symbols and names out of @p choices. It loads and runs as that does.
[[nodiscard]] inline std::vector<std::byte> program_with_symbols(Choices& choices)
{
    std::vector<std::byte> file = hello_program();
    const std::uint64_t names = file.size();
    for (std::uint64_t count = choices.below(64); count != 0; --count)
        file.push_back(static_cast<std::byte>(choices.below(256)));
    const std::uint64_t symbols = file.size();
    for (std::uint64_t count = choices.below(8); count != 0; --count) {
        const std::size_t at = file.size();
        put(file, at, static_cast<std::uint32_t>(choices.below(80)));
        put(file, at + 4, static_cast<std::uint8_t>(choices.one_of({0, 2, 16, 18, 1, 255})));
        put(file, at + 5, std::uint8_t{0});
        put(file, at + 6, static_cast<std::uint16_t>(choices.one_of({1, 2, 0, 0xfff1})));
        const std::uint64_t near = 0x10000 + choices.below(96);
        put(file, at + 8, choices.one_in(6) ? choices.bits64() : near);
        put(file, at + 16, choices.one_in(6) ? choices.bits64() : choices.below(32));
    }
    const std::uint64_t sections = file.size();
    const std::uint64_t count = 1 + choices.below(5);
    for (std::uint64_t i = 0; i < count; ++i) {
        const std::size_t at = file.size();
        const bool is_names = choices.one_in(2);
        const auto odd = [&](std::uint64_t usual) {
            return choices.one_in(8)
                       ? choices.one_of<std::uint64_t>({choices.below(1024), choices.bits64(), 0})
                       : usual;
        };
        put(file, at, static_cast<std::uint32_t>(choices.below(80)));
        put(file, at + 4, static_cast<std::uint32_t>(odd(is_names ? 3 : 2)));
        put(file, at + 8, odd(0));
        put(file, at + 16, odd(0));
        put(file, at + 24, odd(is_names ? names : symbols));
        put(file, at + 32, odd(is_names ? symbols - names : sections - symbols));
        put(file, at + 40, static_cast<std::uint32_t>(choices.below(count + 1)));
        put(file, at + 44, static_cast<std::uint32_t>(choices.below(4)));
        put(file, at + 48, odd(8));
        put(file, at + 56, odd(24));
    }
    put(file, 40, sections);
    put(file, 58, std::uint16_t{64});
    put(file, 60, static_cast<std::uint16_t>(choices.one_in(8) ? choices.below(0x10000) : count));
    put(file, 62, static_cast<std::uint16_t>(choices.below(count + 1)));
    return file;
}
}  // namespace mopvm::test
