// SPDX-License-Identifier: MIT
// Which of many runs is going on.

#include "progress.hpp"

#include <spdlog/spdlog.h>
#include <unistd.h>
#include <cstdio>
#include <string>

namespace mopvm::tool
{
namespace
{
/// Back to the first column, and empties the line.
constexpr const char* clear_line = "\r\x1b[K";
}  // namespace

Progress::Progress(std::uint64_t runs) noexcept
    : m_shown{::isatty(STDERR_FILENO) == 1 && !spdlog::should_log(spdlog::level::info)},
      m_runs{runs}
{}

Progress::~Progress()
{
    if (m_shown)
        (void)std::fputs(clear_line, stderr);
}

void Progress::next(std::string_view what)
{
    ++m_run;
    if (!m_shown)
        return;
    const auto line = clear_line + std::string{"mopvm: run "} + std::to_string(m_run) + " of " +
                      std::to_string(m_runs) + ": " + std::string{what};
    (void)std::fputs(line.c_str(), stderr);
}
}  // namespace mopvm::tool
