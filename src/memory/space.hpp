// SPDX-License-Identifier: MIT
/// @file
/// Guest memory as engines see it: flat bytes, a flag byte per page, and the checks of
/// docs/memory.md on each access.
#pragma once

#include <mopvm/memory.hpp>

#include <bit>
#include <cstdint>
#include <cstring>
#include <type_traits>

namespace mopvm::memory
{
inline constexpr unsigned page_shift = 12;
static_assert(page_size == std::uint64_t{1} << page_shift);
// Values go between guest memory and registers as they are.
static_assert(std::endian::native == std::endian::little);

/// Why an access was refused: an error code and the number that it carries.
struct Fault
{
    ErrorCode code{};
    std::uint64_t address = 0;
};

/// The `Error` that reports @p fault.
[[nodiscard]] inline Error to_error(const Fault& fault) noexcept
{
    return {.code = fault.code, .address = fault.address};
}

/// Standard-layout view of one machine's memory; `Mapping` owns what it points to.
struct Space
{
    std::uint8_t* bytes = nullptr;
    /// One byte of `page_flag` bits for each page. A page without `dirty` holds zeros only: who
    /// writes a page marks it, and only `Mapping` takes the mark away, zeroing the page.
    std::uint8_t* flags = nullptr;
    std::uint64_t size = 0;  ///< Bytes, a multiple of the page size.
    /// Load instructions must end at or below this address: `size`, or one less in version 0, where
    /// they cannot reach the last byte.
    std::uint64_t load_end = 0;
    /// Incremented whenever a page becomes executable or an executable page gets new bytes; decoded
    /// code is checked against it.
    std::uint64_t code_epoch = 0;
    /// The host has not backed the bytes yet, so that each first touch of a page costs a page
    /// fault.
    bool cold = false;

    [[nodiscard]] std::uint64_t page_count() const noexcept { return size >> page_shift; }

    /// Checks that [@p address, @p address + @p length) ends at or below @p end; length is not 0.
    [[nodiscard]] static bool in_bounds(std::uint64_t address,
                                        std::uint64_t length,
                                        std::uint64_t end,
                                        std::uint64_t size,
                                        Fault& fault) noexcept
    {
        if (address < size && length <= end - address) [[likely]]
            return true;
        fault = {ErrorCode::mem_out_of_bound, address >= size ? address : address + length};
        return false;
    }

    /// A load instruction: reads the little-endian @p value at @p address.
    template <typename T>
    [[nodiscard]] bool load(std::uint64_t address, T& value, Fault& fault) const noexcept
    {
        return load_below(address, value, load_end, fault);
    }

    /// LR and AMO read without the version 0 restriction of load instructions.
    template <typename T>
    [[nodiscard]] bool load_atomic(std::uint64_t address, T& value, Fault& fault) const noexcept
    {
        return load_below(address, value, size, fault);
    }

    /// Checks that @p page exists and is writable, and marks it dirty. @p address is reported when
    /// it does not exist.
    // It changes the page, if not the pointers.
    // NOLINTNEXTLINE(readability-make-member-function-const)
    [[nodiscard]] bool prepare_page(std::uint64_t page,
                                    std::uint64_t address,
                                    Fault& fault) noexcept
    {
        if (page >= page_count()) [[unlikely]] {
            fault = {ErrorCode::mem_out_of_bound, address};
            return false;
        }
        if ((flags[page] & page_flag::executable) != 0) [[unlikely]] {
            fault = {ErrorCode::mem_write_on_executable_page, page};
            return false;
        }
        flags[page] |= page_flag::dirty;
        return true;
    }

    /// Checks that @p length bytes (1 to 8) at @p address may be stored and marks their pages
    /// dirty, in the order that docs/memory.md fixes: the first page is dirty even when the second
    /// refuses.
    [[nodiscard]] bool prepare_store(std::uint64_t address,
                                     std::uint64_t length,
                                     Fault& fault) noexcept
    {
        const std::uint64_t first = address >> page_shift;
        if (!prepare_page(first, address, fault)) [[unlikely]]
            return false;
        const std::uint64_t last_byte = address + (length - 1);
        if (last_byte >> page_shift != first) [[unlikely]]
            return prepare_page(first + 1, address + length, fault);
        return true;
    }

    /// A store instruction: writes @p value at @p address in little-endian order.
    template <typename T>
    [[nodiscard]] bool store(std::uint64_t address, T value, Fault& fault) noexcept
    {
        static_assert(std::is_unsigned_v<T>);
        if (!prepare_store(address, sizeof(T), fault)) [[unlikely]]
            return false;
        std::memcpy(bytes + address, &value, sizeof(T));
        return true;
    }

private:
    template <typename T>
    [[nodiscard]] bool load_below(std::uint64_t address,
                                  T& value,
                                  std::uint64_t end,
                                  Fault& fault) const noexcept
    {
        static_assert(std::is_integral_v<T>);
        if (!in_bounds(address, sizeof(T), end, size, fault)) [[unlikely]]
            return false;
        std::memcpy(&value, bytes + address, sizeof(T));
        return true;
    }
};
static_assert(std::is_standard_layout_v<Space> && std::is_trivially_copyable_v<Space>);
}  // namespace mopvm::memory
