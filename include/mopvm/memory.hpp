// SPDX-License-Identifier: MIT
/// @file
/// Guest memory as hosts and system call handlers see it: bounded and permission-checked.
#pragma once

#include <mopvm/error.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

namespace mopvm
{
namespace memory
{
struct Space;
}

/// Bytes per page.
inline constexpr std::uint64_t page_size = 4096;

/// Bits of the flag byte of a page. A page without `executable` is writable.
namespace page_flag
{
inline constexpr std::uint8_t frozen = 0x01;      ///< `init_pages` may not touch it again.
inline constexpr std::uint8_t executable = 0x02;  ///< Executable and not writable.
inline constexpr std::uint8_t dirty = 0x04;       ///< Written since the flag was last cleared.
}  // namespace page_flag

/// A view of one machine's memory, valid as long as the machine. Fresh memory reads as zero; every
/// byte can be read; addresses are bytes from 0; values are little-endian; nothing need be aligned.
class Memory
{
public:
    explicit Memory(memory::Space& space) noexcept : m_space{&space} {}

    /// Size in bytes.
    [[nodiscard]] std::uint64_t size() const noexcept;

    /// Copies guest bytes from @p address into @p to. An empty span succeeds anywhere.
    [[nodiscard]] Result<void> read(std::uint64_t address, std::span<std::byte> to) const noexcept;
    /// Copies @p from to @p address and marks its pages dirty. All or nothing is written; an empty
    /// span succeeds anywhere.
    [[nodiscard]] Result<void> write(std::uint64_t address,
                                     std::span<const std::byte> from) noexcept;
    /// Sets @p length bytes at @p address to @p value, under the rules of `write`.
    [[nodiscard]] Result<void> fill(std::uint64_t address,
                                    std::uint64_t length,
                                    std::byte value) noexcept;

    /// Reads the value of type T at @p address.
    template <std::unsigned_integral T>
    [[nodiscard]] Result<T> load(std::uint64_t address) const noexcept
    {
        T value{};
        if (auto done = read(address, std::as_writable_bytes(std::span{&value, 1})); !done)
            return std::unexpected{std::move(done.error())};
        return value;
    }

    /// Writes @p value at @p address.
    template <std::unsigned_integral T>
    [[nodiscard]] Result<void> store(std::uint64_t address, T value) noexcept
    {
        return write(address, std::as_bytes(std::span{&value, 1}));
    }

    /// The bytes from @p address to @p address + @p length, in place and read-only; valid until the
    /// machine is reset or destroyed. An empty range succeeds anywhere.
    [[nodiscard]] Result<std::span<const std::byte>> view(std::uint64_t address,
                                                          std::uint64_t length) const noexcept;

    /// Maps a page range as the loader does: @p offset zero bytes, then @p source as far as it
    /// fits, then zeros; sets @p flags (`page_flag`) on every page beside `dirty`. @p address and
    /// @p size are multiples of `page_size`. Refused when a page in the range is frozen. This is
    /// how code is added while a machine runs.
    [[nodiscard]] Result<void> init_pages(std::uint64_t address,
                                          std::uint64_t size,
                                          std::uint8_t flags,
                                          std::span<const std::byte> source,
                                          std::uint64_t offset) noexcept;

    /// The flag byte of page number @p page; `mem_out_of_bound` beyond the last.
    [[nodiscard]] Result<std::uint8_t> flags(std::uint64_t page) const noexcept;

private:
    memory::Space* m_space;
};
}  // namespace mopvm
