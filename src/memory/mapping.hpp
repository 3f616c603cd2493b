// SPDX-License-Identifier: MIT
/// @file
/// The host memory behind one machine's guest memory.
#pragma once

#include "memory/space.hpp"

#include <mopvm/config.hpp>

#include <cstdint>
#include <utility>

namespace mopvm::memory
{
/// Owns the bytes and page flags of one machine. Nothing is touched before it is used, so making
/// one costs microseconds whatever its size. Destroyed mappings are zeroed and kept for the next
/// ones, up to `max_kept_bytes` in the whole process.
class Mapping
{
public:
    /// Address space, and at most that much host memory, that destroyed mappings may hold in all.
    static constexpr std::uint64_t max_kept_bytes = std::uint64_t{64} << 20;

    /// Maps @p size zero bytes for a machine of @p version. Fails with `invalid_config` when the
    /// size is not allowed (`docs/memory.md`), with `out_of_memory` when the host refuses.
    [[nodiscard]] static Result<Mapping> create(std::uint64_t size, Version version) noexcept;

    Mapping(Mapping&& other) noexcept : m_space{std::exchange(other.m_space, {})} {}
    Mapping& operator=(Mapping&& other) noexcept;
    Mapping(const Mapping&) = delete;
    Mapping& operator=(const Mapping&) = delete;
    ~Mapping();

    /// What engines work on; copies are good for as long as the mapping. Empty after a move.
    [[nodiscard]] Space& space() noexcept { return m_space; }

    /// Makes memory and `space()` what they were when fresh: all bytes, page flags and the code
    /// epoch are zero. Costs time for the pages that were written, and does not fail.
    [[nodiscard]] Result<void> clear() noexcept;

private:
    explicit Mapping(const Space& space) noexcept : m_space{space} {}

    Space m_space;
};

/// Backs [@p address, @p address + @p length) of a cold @p space by one call to the host instead of
/// a page fault each. Changes no byte; where the host cannot do it, nothing happens.
void back_pages(const Space& space, std::uint64_t address, std::uint64_t length) noexcept;
}  // namespace mopvm::memory
