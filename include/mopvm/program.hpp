// SPDX-License-Identifier: MIT
/// @file
/// A parsed program: read once, loaded into any number of machines on any number of threads.
#pragma once

#include <mopvm/config.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

namespace mopvm
{
/// One PT_LOAD entry of a program.
struct Segment
{
    std::uint64_t address = 0;      ///< First page's address: p_vaddr rounded down to a page.
    std::uint64_t size = 0;         ///< Bytes in memory, whole pages; wraps as the loader does.
    std::uint64_t padding = 0;      ///< Zero bytes before the file's bytes in the first page.
    std::uint64_t file_offset = 0;  ///< Where its bytes begin in the file.
    std::uint64_t file_size = 0;    ///< Bytes in the file.
    std::uint32_t elf_flags = 0;    ///< p_flags: 1 execute, 2 write, 4 read.
};

/// An immutable program; copies share it, together with what machines have decoded of it.
class Program
{
public:
    /// Parses and validates the headers of an ELF file and keeps a copy of @p file. Segments are
    /// checked against a machine's memory by `Machine::load`.
    [[nodiscard]] static Result<Program> from_elf(std::span<const std::byte> file) noexcept;

    /// Address of the first instruction; unchecked, as on chain.
    [[nodiscard]] std::uint64_t entry() const noexcept;
    /// The segments in file order, valid as long as a copy of the program.
    [[nodiscard]] std::span<const Segment> segments() const noexcept;
    /// The bytes of the ELF file, valid as long as a copy of the program.
    [[nodiscard]] std::span<const std::byte> file() const noexcept;
    /// Bytes that loading counts for: the sum of all segments' file sizes.
    [[nodiscard]] std::uint64_t loaded_bytes() const noexcept;

private:
    friend class Machine;
    struct Impl;
    explicit Program(std::shared_ptr<Impl> impl) noexcept;
    std::shared_ptr<Impl> m_impl;
};
}  // namespace mopvm
