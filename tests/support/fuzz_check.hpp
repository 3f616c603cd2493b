// SPDX-License-Identifier: MIT
/// @file
/// How a fuzz target says that something is wrong.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <string>

namespace mopvm::test
{
/// Ends the process unless @p holds; @p what is only called, for a text, when it does not.
template <typename Text>
void check(bool holds, const Text& what)
{
    if (holds)
        return;
    const std::string text = what();
    std::fprintf(stderr, "%s\n", text.c_str());
    std::abort();
}
}  // namespace mopvm::test
