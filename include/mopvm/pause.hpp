// SPDX-License-Identifier: MIT
/// @file
/// Stopping a running machine from another thread or a signal handler.
#pragma once

#include <atomic>
#include <memory>
#include <utility>

namespace mopvm
{
/// A shared request to pause. Copies ask the same machine. Get one from `Machine::pause_handle`.
class PauseHandle
{
public:
    /// Asks the machine to stop at the next backward or indirect control transfer at the latest.
    /// May be called from any thread and from a signal handler. Never changes cycles or results.
    void request() const noexcept { m_requested->store(true, std::memory_order_seq_cst); }

private:
    friend class Machine;
    explicit PauseHandle(std::shared_ptr<std::atomic<bool>> requested) noexcept
        : m_requested{std::move(requested)}
    {}

    static_assert(std::atomic<bool>::is_always_lock_free);
    std::shared_ptr<std::atomic<bool>> m_requested;
};
}  // namespace mopvm
