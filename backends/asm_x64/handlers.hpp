// SPDX-License-Identifier: MIT
/// @file
/// All handlers, emitted and placed in executable memory.
#pragma once

#include "asm_x64/frame.hpp"
#include "asm_x64/host_features.hpp"
#include "asm_x64/sequences.hpp"

#include <asmjit/core.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <expected>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace mopvm::asm_x64
{
/// Executable memory below 2 GiB, where 32 bits hold any address. Not writable.
class HostCode
{
public:
    /// What the host must do; replaced by tests that make it fail.
    struct Host
    {
        /// Writable memory of @p size bytes below 2 GiB, or null.
        std::byte* (*map)(std::size_t size) noexcept;
        /// Makes it executable and read-only.
        bool (*protect)(std::byte* memory, std::size_t size) noexcept;
        void (*unmap)(std::byte* memory, std::size_t size) noexcept;
    };
    /// mmap and mprotect of the operating system.
    [[nodiscard]] static const Host& system() noexcept;

    HostCode() = default;
    /// Takes @p memory of @p size bytes, which is executable.
    HostCode(const Host& host, std::byte* memory, std::size_t size) noexcept
        : m_memory{memory, Unmap{&host, size}}
    {}

    [[nodiscard]] std::byte* begin() const noexcept { return m_memory.get(); }

private:
    struct Unmap
    {
        const Host* host;
        std::size_t size;
        void operator()(std::byte* memory) const noexcept { host->unmap(memory, size); }
    };
    std::unique_ptr<std::byte, Unmap> m_memory{nullptr, Unmap{nullptr, 0}};
};

/// How handlers are emitted. All but what a process does for its guests is there for tests.
struct EmitOptions
{
    const HostCode::Host& host = HostCode::system();
    HostFeatures features = HostFeatures::of_this_host();
    /// Called with the code before it is placed: tests break it there.
    void (*tamper)(asmjit::CodeHolder& code) = nullptr;
    /// Counts how often each handler begins, those of all units first, then those of the sequences.
    /// Has room for them, and outlives them; empty: nothing is counted.
    std::span<std::uint64_t> runs{};
};

/// The handlers of every unit and of some sequences. Immutable; any number of threads may run them.
class Handlers
{
public:
    /// Emits the handlers. @return why that is not possible.
    [[nodiscard]] static std::expected<Handlers, std::string> emit(
        std::span<const Sequence> sequences,
        const EmitOptions& options = {});

    [[nodiscard]] const SequenceMatcher& matcher() const noexcept { return m_matcher; }
    /// 0 when @p unit has no handler.
    [[nodiscard]] std::uint32_t of_unit(Unit unit) const noexcept { return m_units[index(unit)]; }
    [[nodiscard]] std::uint32_t of_sequence(std::uint16_t sequence) const noexcept
    {
        return m_sequences[sequence];
    }
    /// Bytes of code.
    [[nodiscard]] std::size_t code_bytes() const noexcept { return m_code_bytes; }

    /// Runs from `frame.ip` on until something needs C++.
    [[nodiscard]] Leave enter(Frame& frame) const noexcept { return m_enter(&frame); }

private:
    HostCode m_code;
    SequenceMatcher m_matcher;
    Leave (*m_enter)(Frame* frame) = nullptr;
    std::array<std::uint32_t, unit_count> m_units{};
    std::vector<std::uint32_t> m_sequences;
    std::size_t m_code_bytes = 0;
};
/// The process's handlers, emitted and tested by the first call; or why there are none.
[[nodiscard]] const std::expected<Handlers, std::string>& handlers() noexcept;

/// Makes `handlers` use @p sequences, which must live on, instead of `chosen_sequences`. Has an
/// effect before its first call only; to measure and to train.
void use_sequences(std::span<const Sequence> sequences) noexcept;
}  // namespace mopvm::asm_x64
