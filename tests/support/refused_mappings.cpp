// SPDX-License-Identifier: MIT
// mmap, which does what it is told.

#include "support/refused_mappings.hpp"

#include <sys/mman.h>

#include <cerrno>

namespace mopvm::test
{
int mappings_to_refuse = 0;
int mappings_wanted = 0;
}  // namespace mopvm::test

// NOLINTBEGIN(bugprone-reserved-identifier)
extern "C" {
void* __real_mmap(void* at, std::size_t size, int protection, int flags, int file, off_t offset);
void* __wrap_mmap(void* at, std::size_t size, int protection, int flags, int file, off_t offset);

void* __wrap_mmap(void* at, std::size_t size, int protection, int flags, int file, off_t offset)
{
    using mopvm::test::mappings_to_refuse;
    ++mopvm::test::mappings_wanted;
    if (mappings_to_refuse == 0)
        return __real_mmap(at, size, protection, flags, file, offset);
    --mappings_to_refuse;
    errno = ENOMEM;
    return MAP_FAILED;
}
}
// NOLINTEND(bugprone-reserved-identifier)
