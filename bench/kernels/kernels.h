// SPDX-License-Identifier: MIT
/// @file
/// Small loops that are compiled twice from the same sources: for the host and for the guest.
#pragma once

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/// Each does work that grows with @p n and answers with a checksum of the result, the same on every
/// machine. None is reentrant: their arrays are static. Where @p n is limited, the source file says
/// so.
#define MOPVM_KERNEL(name, size, role) uint64_t kernel_##name(uint64_t n);
#include "kernels.inc"
#undef MOPVM_KERNEL

#ifdef __cplusplus
}
#endif
