// SPDX-License-Identifier: MIT
// One of two files that include everything public: twice, and linked together.

#include <mopvm/mopvm.hpp>

// And again: the guards hold.
#include <mopvm/mopvm.hpp>

#include <cstdlib>

/// The version as other.cpp sees it.
std::string_view version_seen_elsewhere();

int main()
{
    return mopvm::version_text == version_seen_elsewhere() ? EXIT_SUCCESS : EXIT_FAILURE;
}
