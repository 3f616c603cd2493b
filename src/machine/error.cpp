// SPDX-License-Identifier: MIT
// Names and plain words of errors and exits.

#include <mopvm/error.hpp>
#include <mopvm/exit.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>

namespace mopvm
{
namespace
{
struct ErrorRow
{
    ErrorCode code;
    std::string_view name;
    /// The sentence: {address}, {page}, {number}, {bits}, {kind} and {text} stand for the payload.
    std::string_view sentence;
};

constexpr auto errors = std::to_array<ErrorRow>({
    {ErrorCode::cycles_exceeded, "cycles_exceeded",
     "the cycle limit was reached before the program ended; raise the limit and run on, or make "
     "the "
     "program cheaper"},
    {ErrorCode::cycles_overflow, "cycles_overflow",
     "the cycle counter would pass 2^64 - 1; the program cannot end within it"},
    {ErrorCode::elf_bits, "elf_bits",
     "this is a 32-bit ELF file; build the program for RV64 (-march=rv64imc -mabi=lp64)"},
    {ErrorCode::elf_parse_error, "elf_parse_error",
     "the ELF headers cannot be read: {text}; check that the file is a complete RV64 executable"},
    {ErrorCode::elf_segment_unreadable, "elf_segment_unreadable",
     "the segment at {address} is not readable; give every PT_LOAD segment the R flag"},
    {ErrorCode::elf_segment_writable_and_executable, "elf_segment_writable_and_executable",
     "the segment at {address} is writable and executable at once; link code and data into "
     "separate "
     "segments (-Wl,-z,separate-code)"},
    {ErrorCode::elf_segment_addr_or_size_error, "elf_segment_addr_or_size_error",
     "the segment at {address} names bytes outside the file; the file is cut short or damaged"},
    {ErrorCode::external, "external", "a system call handler refused: {text}"},
    {ErrorCode::invalid_ecall, "invalid_ecall",
     "nobody answers system call {number}; choose the system call set that the program was built "
     "for"},
    {ErrorCode::invalid_instruction, "invalid_instruction",
     "the bits {bits} at {address} are no instruction of this version and instruction set; build "
     "for "
     "rv64imc, or turn on the extension that the program uses"},
    {ErrorCode::invalid_version, "invalid_version",
     "fusion does not exist in version 0; turn fusion off or choose version 1 or 2"},
    {ErrorCode::mem_out_of_bound, "mem_out_of_bound",
     "address {address} is outside {kind}; look for a wild pointer, or give the machine more "
     "memory"},
    {ErrorCode::mem_out_of_stack, "mem_out_of_stack",
     "the arguments do not fit the stack, a quarter of memory; pass fewer, or give the machine "
     "more "
     "memory"},
    {ErrorCode::mem_page_unaligned_access, "mem_page_unaligned_access",
     "address {address} is not a multiple of the page size, 4096"},
    {ErrorCode::mem_write_on_executable_page, "mem_write_on_executable_page",
     "page {page} (address {page_address}) was written while executable, or jumped to while not; a "
     "page is either code or data"},
    {ErrorCode::mem_write_on_frozen_page, "mem_write_on_frozen_page",
     "page {page} (address {page_address}) is loaded twice although frozen; do not let segments "
     "share pages"},
    {ErrorCode::unexpected, "unexpected", "a system call handler found an inconsistency: {text}"},
    {ErrorCode::io, "io", "reading or writing failed: {text}"},
    {ErrorCode::out_of_memory, "out_of_memory",
     "the host has no memory left; run fewer machines at once, or smaller ones"},
    {ErrorCode::invalid_config, "invalid_config", "the configuration is not possible: {text}"},
    {ErrorCode::backend_unavailable, "backend_unavailable",
     "the backend cannot be used: {text}; choose one that `backends()` lists, or auto"},
});

consteval bool rows_follow_the_enumeration()
{
    for (std::size_t i = 0; i < errors.size(); ++i) {
        if (errors[i].code != static_cast<ErrorCode>(i))
            return false;
    }
    return errors.back().code == ErrorCode::backend_unavailable;
}
static_assert(rows_follow_the_enumeration());

/// A handler may have made its code up: that is `unexpected`.
const ErrorRow& row(ErrorCode code) noexcept
{
    const auto index = static_cast<std::size_t>(code);
    return errors[index < errors.size() ? index : static_cast<std::size_t>(ErrorCode::unexpected)];
}

std::string number(std::uint64_t value, int base)
{
    std::array<char, 24> digits{};
    auto* const end = std::to_chars(digits.data(), digits.data() + digits.size(), value, base).ptr;
    return (base == 16 ? "0x" : "") + std::string{digits.data(), end};
}

std::string payload(std::string_view field, const Error& error)
{
    if (field == "address")
        return number(error.address, 16);
    if (field == "page" || field == "number")
        return number(error.address, 10);
    if (field == "page_address")
        return number(error.address * 4096, 16);
    if (field == "bits")
        return number(error.bits, 16);
    if (field == "kind")
        return error.kind == BoundKind::memory ? "memory" : "the data to be loaded";
    return error.text;
}
}  // namespace

std::string_view name(ErrorCode code) noexcept
{
    return row(code).name;
}

std::string_view name(BoundKind kind) noexcept
{
    return kind == BoundKind::memory ? "memory" : "external_data";
}

std::string_view name(Exit::Reason reason) noexcept
{
    static constexpr std::array<std::string_view, 4> names{"exited", "error", "paused", "yielded"};
    return names[static_cast<std::size_t>(reason)];
}

bool has_address(ErrorCode code) noexcept
{
    static constexpr std::array<std::string_view, 3> numbers{"{address}", "{page}", "{number}"};
    return std::ranges::any_of(
        numbers, [&](std::string_view field) { return row(code).sentence.contains(field); });
}

std::string message(const Error& error)
{
    std::string text;
    std::string_view rest = row(error.code).sentence;
    while (!rest.empty()) {
        const std::size_t open = rest.find('{');
        text += rest.substr(0, open);
        if (open == std::string_view::npos)
            break;
        const std::size_t close = rest.find('}', open);
        text += payload(rest.substr(open + 1, close - open - 1), error);
        rest.remove_prefix(close + 1);
    }
    return text;
}
}  // namespace mopvm
