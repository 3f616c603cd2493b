// SPDX-License-Identifier: MIT
/// @file
/// The same input for every run of a guest.
#pragma once

#include "streams.hpp"

#include <cstddef>
#include <span>
#include <vector>

namespace mopvm::tool
{
/// Input that is kept as it is read. Nothing is read before a guest asks for it.
class RecordedInput
{
public:
    /// Bytes that are kept at most; an input that goes on behind them is an `io` error.
    static constexpr std::size_t limit = std::size_t{256} << 20;

    explicit RecordedInput(StreamInput source) noexcept : m_source{std::move(source)} {}

    /// Fills @p to with the bytes from @p offset on, which is no further than was read before;
    /// returns fewer only at the end of input.
    [[nodiscard]] Result<std::size_t> read(std::size_t offset, std::span<std::byte> to) noexcept;

private:
    /// Reads on until @p length bytes are kept or the input ends.
    [[nodiscard]] Result<void> record(std::size_t length);

    StreamInput m_source;
    std::vector<std::byte> m_bytes;
    bool m_ended = false;
};

/// The streams of one run: a recorded input from its first byte on, and output that is kept.
class ReplayStreams final : public GuestStreams
{
public:
    /// @p input must outlive the streams.
    explicit ReplayStreams(RecordedInput& input) noexcept : m_input{&input} {}

    Result<std::size_t> read(std::span<std::byte> to) noexcept override;
    Result<void> write(int fd, std::span<const std::byte> from) noexcept override;

    /// What the guest wrote.
    [[nodiscard]] const CapturedStreams& captured() const noexcept { return m_captured; }

private:
    RecordedInput* m_input;
    std::size_t m_offset = 0;
    CapturedStreams m_captured{StreamInput{-1}};
};
}  // namespace mopvm::tool
