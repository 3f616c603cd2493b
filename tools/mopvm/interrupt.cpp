// SPDX-License-Identifier: MIT
// Ctrl-C as a pause request.

#include "interrupt.hpp"

#include "problem.hpp"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>
#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <utility>

namespace mopvm::tool
{
namespace
{
/// The machine to pause; null while none runs.
std::atomic<const PauseHandle*> running = nullptr;
std::atomic<bool> arrived = false;
static_assert(decltype(running)::is_always_lock_free, "the signal handler reads it");
/// Written by the handler, so that a poll that is about to begin ends too.
std::array<int, 2> wake_pipe{-1, -1};

struct sigaction previous_action{};

extern "C" void on_interrupt(int /*signal*/)
{
    const auto saved = errno;
    arrived = true;
    if (const auto* const pause = running.load())
        pause->request();
    const char byte = 0;
    [[maybe_unused]] const auto written = ::write(wake_pipe[1], &byte, 1);
    errno = saved;
}
}  // namespace

InterruptGuard::InterruptGuard()
{
    if (::pipe2(wake_pipe.data(), O_CLOEXEC | O_NONBLOCK) != 0)
        throw Problem{"the host refused a pipe: too many files are open"};
    arrived = false;

    ::sigaction(SIGINT, nullptr, &previous_action);
    if (previous_action.sa_handler == SIG_IGN)
        return;
    struct sigaction action{};
    action.sa_handler = on_interrupt;
    action.sa_flags = static_cast<int>(SA_RESETHAND);
    ::sigaction(SIGINT, &action, nullptr);
}

InterruptGuard::~InterruptGuard()
{
    ::sigaction(SIGINT, &previous_action, nullptr);
    for (int& end : wake_pipe) {
        ::close(end);
        end = -1;
    }
}

PauseTarget::PauseTarget(PauseHandle pause) noexcept : m_pause{std::move(pause)}
{
    running = &m_pause;
    // One that came before there was a machine.
    if (arrived)
        m_pause.request();
}

PauseTarget::~PauseTarget()
{
    running = nullptr;
}

bool interrupted() noexcept
{
    return arrived;
}

bool wait_for(int fd, short events) noexcept
{
    while (true) {
        std::array<pollfd, 2> waited{{{fd, events, 0}, {wake_pipe[0], POLLIN, 0}}};
        if (::poll(waited.data(), waited.size(), -1) < 0) {
            if (errno == EINTR || errno == EAGAIN)
                continue;
            return true;  // the stream itself will say what is wrong
        }
        // First, as a stream that is always ready must not keep a Ctrl-C from being seen.
        if (waited[1].revents != 0)
            return false;
        if (waited[0].revents != 0)
            return true;
    }
}
}  // namespace mopvm::tool
