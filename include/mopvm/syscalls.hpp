// SPDX-License-Identifier: MIT
/// @file
/// The built-in system call sets.
#pragma once

#include <mopvm/syscall.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

namespace mopvm
{
/// Where a guest's input comes from and its output goes to. The library itself never reads or
/// writes a stream.
class GuestStreams
{
public:
    virtual ~GuestStreams() = default;

    /// Reads up to `to.size()` bytes of descriptor 0; fewer only at the end of input.
    [[nodiscard]] virtual Result<std::size_t> read(std::span<std::byte> to) noexcept = 0;
    /// Writes all of @p from to descriptor @p fd, 1 or 2. An error ends the run.
    [[nodiscard]] virtual Result<void> write(int fd, std::span<const std::byte> from) noexcept = 0;
};

/// The chain's calls that need no transaction: 2177 debug print (the string and a newline to
/// descriptor 2), and from version 1 on 2041 VM version and 2042 current cycles.
/// @return null when @p streams is null or the host has no memory left.
[[nodiscard]] std::shared_ptr<SyscallHandler> make_ckb_syscalls(
    std::shared_ptr<GuestStreams> streams) noexcept;

/// Linux numbers for ordinary static programs (`docs/syscalls.md`): 57 close, 62 lseek, 63 read,
/// 64 write, 66 writev, 80 fstat, 94 exit_group, 214 brk. Deterministic: only descriptors 0 to 2
/// exist. With @p host_time also 113 clock_gettime and 169 gettimeofday, which are not.
/// @return null when @p streams is null or the host has no memory left.
[[nodiscard]] std::shared_ptr<SyscallHandler> make_posix_syscalls(
    std::shared_ptr<GuestStreams> streams,
    bool host_time = false) noexcept;
}  // namespace mopvm
