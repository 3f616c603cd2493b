// SPDX-License-Identifier: MIT
/// @file
/// Runs a guest again and again, and checks every result.
#pragma once

#include "guest.hpp"

#include <mopvm/machine.hpp>
#include <mopvm/syscalls.hpp>

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace mopvm::bench
{
/// Gives a guest its input and keeps what it prints.
class Streams final : public GuestStreams
{
public:
    explicit Streams(std::string input) : m_input{std::move(input)} {}

    Result<std::size_t> read(std::span<std::byte> to) noexcept override;
    Result<void> write(int fd, std::span<const std::byte> from) noexcept override;

    /// What was printed since the last `rewind`.
    [[nodiscard]] const std::string& output() const noexcept { return m_output; }
    /// Back to the beginning of the input, and to no output.
    void rewind() noexcept;

private:
    std::string m_input;
    std::size_t m_read = 0;  ///< Bytes of the input that were read.
    std::string m_output;
};

/// What a run costs, the same each time and in every backend.
struct Counts
{
    std::uint64_t cycles = 0;
    std::uint64_t operations = 0;
    std::uint64_t instructions = 0;
};

/// One guest under one configuration. What fails throws std::runtime_error.
class Runner
{
public:
    /// Runs the guest once to count, which also makes sure that all of it has been decoded.
    Runner(Guest guest, const Config& config);

    /// Of a run from start to exit.
    [[nodiscard]] const Counts& counts() const noexcept { return m_counts; }

    /// Replaces the guest by one that has been parsed anew, and of which nothing has been decoded.
    void forget_code();

    /// Makes the machine; `destroy` must have been called before the next time.
    void create();
    void destroy() noexcept { m_machine.reset(); }
    /// Makes the machine as fresh as when it was created.
    void reset();
    void load();
    [[nodiscard]] Exit run() { return m_machine.value().run(); }

    /// Throws unless @p exit and what the guest printed since the last load are as they must be.
    void check(const Exit& exit) const;

private:
    void create(const Config& config);

    Guest m_guest;
    std::vector<std::string_view> m_arguments;
    Config m_config;
    std::shared_ptr<Streams> m_streams = std::make_shared<Streams>(m_guest.input);
    std::shared_ptr<SyscallHandler> m_syscalls = make_posix_syscalls(m_streams);
    std::optional<Machine> m_machine;
    Counts m_counts;
};
}  // namespace mopvm::bench
