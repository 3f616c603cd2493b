// SPDX-License-Identifier: MIT
/// @file
/// The decisions of a generator: drawn from a seed, or read from the bytes of a fuzzer.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <random>
#include <span>

namespace mopvm::test
{
/// A stream of decisions. Equal seeds, and equal bytes, give equal decisions on every host.
class Choices
{
public:
    /// Decisions without end.
    explicit Choices(std::uint64_t seed) : m_engine{seed}, m_from_bytes{false} {}

    /// Decisions read from @p bytes, which must outlive this; behind their end all are 0.
    explicit Choices(std::span<const std::uint8_t> bytes) : m_bytes{bytes}, m_from_bytes{true} {}

    /// True when all bytes are used up; never with a seed.
    [[nodiscard]] bool exhausted() const { return m_from_bytes && m_bytes.empty(); }

    /// A number below @p bound, which is not 0.
    [[nodiscard]] std::uint64_t below(std::uint64_t bound)
    {
        if (!m_from_bytes)
            return m_engine() % bound;
        std::uint64_t value = 0;
        for (std::uint64_t rest = bound - 1; rest != 0; rest >>= 8)
            value = value << 8 | next_byte();
        return value % bound;
    }

    /// True in one case out of @p n.
    [[nodiscard]] bool one_in(std::uint64_t n) { return below(n) == n - 1; }

    [[nodiscard]] std::uint64_t bits64() { return below(1U << 16) << 48 | below(1ULL << 48); }
    [[nodiscard]] std::uint32_t bits32() { return static_cast<std::uint32_t>(below(1ULL << 32)); }

    /// A number from @p low to @p high, both included.
    [[nodiscard]] std::int64_t between(std::int64_t low, std::int64_t high)
    {
        return low + static_cast<std::int64_t>(below(static_cast<std::uint64_t>(high - low) + 1));
    }

    /// One of @p values, which are not empty.
    template <typename T>
    [[nodiscard]] T one_of(std::initializer_list<T> values)
    {
        return values.begin()[below(values.size())];
    }
    template <typename Range>
    [[nodiscard]] const auto& one_of(const Range& values)
    {
        return values[static_cast<std::size_t>(below(values.size()))];
    }

private:
    std::uint8_t next_byte()
    {
        if (m_bytes.empty())
            return 0;
        const std::uint8_t byte = m_bytes.front();
        m_bytes = m_bytes.subspan(1);
        return byte;
    }

    std::mt19937_64 m_engine;
    std::span<const std::uint8_t> m_bytes;
    bool m_from_bytes;
};
}  // namespace mopvm::test
