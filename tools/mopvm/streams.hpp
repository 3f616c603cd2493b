// SPDX-License-Identifier: MIT
/// @file
/// Where a guest's input comes from and where its output goes.
#pragma once

#include "files.hpp"

#include <mopvm/syscalls.hpp>

#include <array>
#include <cstdint>
#include <string>

namespace mopvm::tool
{
/// Input from a descriptor of the host; Ctrl-C ends a wait for it with an `io` error.
class StreamInput
{
public:
    /// Reads from @p fd, which is not closed; -1 is an empty input.
    explicit StreamInput(int fd) noexcept : m_fd{fd} {}
    /// Reads from @p file.
    explicit StreamInput(Descriptor file) noexcept : m_file{std::move(file)}, m_fd{m_file.get()} {}

    /// Fills @p to; returns fewer bytes only at the end of input.
    [[nodiscard]] Result<std::size_t> read(std::span<std::byte> to) noexcept;

private:
    Descriptor m_file;
    int m_fd;
};

/// The input that @p file names; `-` and nothing name stdin.
/// @throws Problem
[[nodiscard]] StreamInput named_input(const std::string& file);

/// The guest's descriptors 1 and 2 are those of the process.
class HostStreams final : public GuestStreams
{
public:
    explicit HostStreams(StreamInput input) noexcept : m_input{std::move(input)} {}

    Result<std::size_t> read(std::span<std::byte> to) noexcept override;
    Result<void> write(int fd, std::span<const std::byte> from) noexcept override;

private:
    StreamInput m_input;
};

/// The guest's output is kept, up to a limit for each descriptor.
class CapturedStreams final : public GuestStreams
{
public:
    /// Bytes that are kept of each descriptor; what is written beyond them is dropped.
    static constexpr std::size_t limit = std::size_t{1} << 20;

    explicit CapturedStreams(StreamInput input) noexcept : m_input{std::move(input)} {}

    Result<std::size_t> read(std::span<std::byte> to) noexcept override;
    Result<void> write(int fd, std::span<const std::byte> from) noexcept override;

    /// What the guest wrote to @p fd, 1 or 2.
    [[nodiscard]] const std::string& output(int fd) const noexcept { return m_outputs[index(fd)]; }
    /// Bytes that the guest wrote to @p fd, 1 or 2, those that were dropped included.
    [[nodiscard]] std::uint64_t written(int fd) const noexcept { return m_written[index(fd)]; }
    /// True when bytes of @p fd, 1 or 2, were dropped.
    [[nodiscard]] bool truncated(int fd) const noexcept { return written(fd) > limit; }

private:
    [[nodiscard]] static std::size_t index(int fd) noexcept { return fd == 1 ? 0 : 1; }

    StreamInput m_input;
    std::array<std::string, 2> m_outputs;
    std::array<std::uint64_t, 2> m_written{};
};
}  // namespace mopvm::tool
