// SPDX-License-Identifier: MIT
/// @file
/// Tests that need a process of their own, for what happens once in each.
#pragma once

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#if defined(MOPVM_COVERAGE)
/// Of gcov: writes down what the process has counted.
extern "C" void __gcov_dump();  // NOLINT(bugprone-reserved-identifier)
#endif

namespace mopvm::test
{
/// Exit status of a copy of this process that does nothing but @p run; -1 when it crashes.
template <typename Run>
int status_of_child(const Run& run)
{
    const pid_t child = ::fork();
    if (child == 0) {
        const int status = run();
#if defined(MOPVM_COVERAGE)
        __gcov_dump();
#endif
        ::_exit(status);
    }
    int status = 0;
    EXPECT_EQ(::waitpid(child, &status, 0), child);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}
}  // namespace mopvm::test
