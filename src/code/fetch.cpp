// SPDX-License-Identifier: MIT
// Reading instruction bits from executable pages.

#include "code/fetch.hpp"

#include "decoder/decoder.hpp"

namespace mopvm::code
{
namespace
{
/// One read of the fetch unit: bounds first, then every page that it touches.
template <typename T>
[[nodiscard]] bool read_executable(const memory::Space& space,
                                   std::uint64_t address,
                                   T& value,
                                   memory::Fault& fault) noexcept
{
    if (!memory::Space::in_bounds(address, sizeof(T), space.size, space.size, fault))
        return false;
    const std::uint64_t last_page = (address + sizeof(T) - 1) >> memory::page_shift;
    for (std::uint64_t page = address >> memory::page_shift; page <= last_page; ++page) {
        if ((space.flags[page] & page_flag::executable) == 0) {
            fault = {ErrorCode::mem_write_on_executable_page, page};
            return false;
        }
    }
    std::memcpy(&value, space.bytes + address, sizeof(T));
    return true;
}
}  // namespace

bool fetch(const memory::Space& space,
           std::uint64_t pc,
           std::uint32_t& bits,
           memory::Fault& fault) noexcept
{
    std::uint16_t low = 0;
    if (pc % page_size < page_size - sizeof(low)) {
        if (!read_executable(space, pc, bits, fault))
            return false;
        if (decoder::is_compressed(bits))
            bits &= 0xffff;
        return true;
    }
    if (!read_executable(space, pc, low, fault))
        return false;
    bits = low;
    if (decoder::is_compressed(bits))
        return true;
    std::uint16_t high = 0;
    if (!read_executable(space, pc + sizeof(low), high, fault))
        return false;
    bits |= std::uint32_t{high} << 16;
    return true;
}
}  // namespace mopvm::code
