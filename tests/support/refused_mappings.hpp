// SPDX-License-Identifier: MIT
/// @file
/// A host that refuses to map memory. An executable that uses it links refused_mappings.cpp, and
/// has the linker lead the library's calls of mmap there: `--wrap=mmap`.
#pragma once

namespace mopvm::test
{
/// Mappings that are refused from now on, before the next one that is not.
extern int mappings_to_refuse;
/// Mappings that were asked for so far.
extern int mappings_wanted;
}  // namespace mopvm::test
