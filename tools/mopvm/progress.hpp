// SPDX-License-Identifier: MIT
/// @file
/// Which of many runs is going on, for people who wait.
#pragma once

#include <cstdint>
#include <string_view>

namespace mopvm::tool
{
/// A line on stderr that is overwritten at each run and gone in the end. There is none where stderr
/// is no terminal, or where the log tells of each run.
class Progress
{
public:
    explicit Progress(std::uint64_t runs) noexcept;
    Progress(const Progress&) = delete;
    Progress& operator=(const Progress&) = delete;
    ~Progress();

    /// The next run begins; @p what says which it is.
    void next(std::string_view what);

private:
    bool m_shown;
    std::uint64_t m_run = 0;
    std::uint64_t m_runs;
};
}  // namespace mopvm::tool
