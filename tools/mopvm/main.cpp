// SPDX-License-Identifier: MIT
// The mopvm command: prepares the process, and runs its command line.

#include "command_line.hpp"
#include "files.hpp"
#include "problem.hpp"

#include <csignal>
#include <cstdio>
#include <new>
#include <string>
#include <utility>
#include <vector>

int main(int argc, char** argv)
try {
    // A reader that goes away is an error of writing, not the end of the process.
    (void)std::signal(SIGPIPE, SIG_IGN);
    (void)std::signal(SIGXFSZ, SIG_IGN);  // so is a file that may not grow further
    mopvm::tool::reserve_standard_descriptors();
    std::vector<std::string> words;
    if (argc > 0)
        words.assign(argv + 1, argv + argc);
    return mopvm::tool::run_command_line(std::move(words));
} catch (const std::bad_alloc&) {
    (void)std::fputs("mopvm: the host has no memory left\n", stderr);
    return mopvm::tool::status_problem;
}
