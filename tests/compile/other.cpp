// SPDX-License-Identifier: MIT
// The other of two files that include everything public.

#include <mopvm/mopvm.hpp>

// And again: the guards hold.
#include <mopvm/mopvm.hpp>

std::string_view version_seen_elsewhere();

std::string_view version_seen_elsewhere()
{
    return mopvm::version_text;
}
