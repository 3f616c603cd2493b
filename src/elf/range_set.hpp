// SPDX-License-Identifier: MIT
/// @file
/// A set of addresses that is made of ranges.
#pragma once

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <map>

namespace mopvm::elf
{
/// Disjoint ranges of addresses. Adding n of them takes time in proportion to n log n, however they
/// overlap.
class RangeSet
{
public:
    /// True when some address of [@p begin, @p end) is in the set.
    [[nodiscard]] bool meets(std::uint64_t begin, std::uint64_t end) const noexcept
    {
        const auto behind = m_ends.upper_bound(begin);
        if (behind != m_ends.begin() && std::prev(behind)->second > begin)
            return begin < end;
        return behind != m_ends.end() && behind->first < end;
    }

    /// Adds [@p begin, @p end), not empty, and calls @p visit with the begin and the end of each
    /// part of it that was not there, the lowest first. @throws std::bad_alloc
    template <typename Visit>
    void add(std::uint64_t begin, std::uint64_t end, const Visit& visit)
    {
        auto range = m_ends.upper_bound(begin);
        if (range != m_ends.begin() && std::prev(range)->second >= begin)
            --range;
        std::uint64_t first = begin;
        std::uint64_t reached = begin;
        while (range != m_ends.end() && range->first <= end) {
            if (reached < range->first)
                visit(reached, range->first);
            first = std::min(first, range->first);
            reached = std::max(reached, range->second);
            range = m_ends.erase(range);
        }
        if (reached < end)
            visit(reached, end);
        m_ends.emplace(first, std::max(reached, end));
    }

    void add(std::uint64_t begin, std::uint64_t end)
    {
        add(begin, end, [](std::uint64_t, std::uint64_t) {});
    }

private:
    std::map<std::uint64_t, std::uint64_t> m_ends;  ///< The ends of the ranges by their begins.
};
}  // namespace mopvm::elf
