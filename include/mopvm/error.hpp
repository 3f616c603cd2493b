// SPDX-License-Identifier: MIT
/// @file
/// What can go wrong, as values: the error list, its payloads, its names and its plain words.
#pragma once

#include <cstdint>
#include <expected>
#include <string>
#include <string_view>

namespace mopvm
{
/// Every error of the machine and of the host around it.
enum class ErrorCode : std::uint8_t
{
    // The guest, its program or its arguments: the same on every machine.
    cycles_exceeded,         ///< The next operation does not fit below `max_cycles`.
    cycles_overflow,         ///< The cycle counter would pass 2^64 - 1.
    elf_bits,                ///< A 32-bit ELF file.
    elf_parse_error,         ///< The ELF or program headers cannot be read; `text` says why.
    elf_segment_unreadable,  ///< A PT_LOAD segment without R; `address` is its p_vaddr.
    elf_segment_writable_and_executable,  ///< W and X together; `address` is the p_vaddr.
    elf_segment_addr_or_size_error,  ///< File range outside the file; `address` is the p_vaddr.
    external,                        ///< Raised by a system call handler; `text` says why.
    invalid_ecall,                   ///< No handler took the call; `address` is its number.
    invalid_instruction,             ///< Undecodable; `address` is its pc, `bits` its raw bits.
    invalid_version,                 ///< Fusion was asked of version 0.
    mem_out_of_bound,                ///< `address` is outside `kind`.
    mem_out_of_stack,                ///< The arguments do not fit the stack region.
    mem_page_unaligned_access,       ///< `address` should have been a multiple of the page size.
    mem_write_on_executable_page,    ///< Store to an executable page, or fetch from another;
                                     ///< `address` is the page number.
    mem_write_on_frozen_page,        ///< `init_pages` over a frozen page; `address` is its number.
    unexpected,  ///< An inconsistency that a handler reports; `text` says which.

    // The host: not part of what a guest can cause.
    io,                   ///< Reading or writing a stream of the host failed; `text` says how.
    out_of_memory,        ///< The host refused memory.
    invalid_config,       ///< A configuration value is outside its range; `text` says which.
    backend_unavailable,  ///< The requested backend is not built in or cannot run here.
};

/// What `Error::address` of a `mem_out_of_bound` is outside of.
enum class BoundKind : std::uint8_t
{
    memory,         ///< Guest memory.
    external_data,  ///< The bytes that were to be copied into guest memory.
};

/// An error with its payload. Which fields carry meaning is said at each `ErrorCode`.
struct Error
{
    ErrorCode code{};
    BoundKind kind = BoundKind::memory;
    std::uint32_t bits = 0;
    std::uint64_t address = 0;
    std::string text{};

    friend bool operator==(const Error&, const Error&) = default;
};

/// A value or the `Error` that prevented it.
template <typename T>
using Result = std::expected<T, Error>;

/// The snake_case name of @p code, for example `mem_out_of_bound`.
[[nodiscard]] std::string_view name(ErrorCode code) noexcept;

/// The name of @p kind: `memory` or `external_data`.
[[nodiscard]] std::string_view name(BoundKind kind) noexcept;

/// True when `address` of an error with @p code carries a number.
[[nodiscard]] bool has_address(ErrorCode code) noexcept;

/// One sentence in plain words: what happened, where, and what can be done about it.
/// @throws std::bad_alloc  like every function that returns a string.
[[nodiscard]] std::string message(const Error& error);
}  // namespace mopvm
