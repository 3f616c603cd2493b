// SPDX-License-Identifier: MIT
/// @file
/// Files of the host: reading a program whole, and writing results so that failures are seen.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace mopvm::tool
{
/// Largest program file that is read, in bytes: as much as the largest guest memory.
inline constexpr std::size_t max_program_file = std::size_t{1} << 30;

/// Owns a file descriptor.
class Descriptor
{
public:
    Descriptor() noexcept = default;
    /// Takes over @p fd; -1 is none.
    explicit Descriptor(int fd) noexcept : m_fd{fd} {}
    Descriptor(Descriptor&& other) noexcept;
    Descriptor& operator=(Descriptor&& other) noexcept;
    Descriptor(const Descriptor&) = delete;
    Descriptor& operator=(const Descriptor&) = delete;
    ~Descriptor();

    [[nodiscard]] int get() const noexcept { return m_fd; }

private:
    int m_fd = -1;
};

/// Thrown when the reader of a pipe has gone: there is nobody to tell.
struct ClosedPipe
{};

/// The whole content of the regular file @p path.
/// @throws Problem  when it is not one, cannot be read, or is larger than `max_program_file`.
[[nodiscard]] std::vector<std::byte> read_program_file(const std::string& path);

/// Opens @p path for reading; anything but a directory.
/// @throws Problem
[[nodiscard]] Descriptor open_input(const std::string& path);

/// Makes descriptors 0 to 2 occupied: one that was closed fails when it is used, and no file that
/// is opened later takes its place.
void reserve_standard_descriptors() noexcept;

/// Buffered output to a file or to stdout that reports every failure.
class Output
{
public:
    /// Creates or truncates the file @p path; `-` is stdout.
    /// @throws Problem
    explicit Output(const std::string& path);

    /// @throws Problem, or ClosedPipe
    void write(std::string_view text);
    /// Hands everything written so far to the host. Must be called at the end.
    /// @throws Problem, or ClosedPipe
    void flush();

private:
    std::string m_name;
    Descriptor m_file;
    int m_fd = 1;
    std::string m_buffer;
};
}  // namespace mopvm::tool
