// SPDX-License-Identifier: MIT
// The system calls that the guests use, under their usual POSIX names.

#pragma once

#include <stddef.h>

long read(int descriptor, void* buffer, size_t size);
long write(int descriptor, const void* buffer, size_t size);
void* sbrk(long increment);
_Noreturn void _exit(int code);

// Memory that is never given back, aligned to 16 bytes and zeroed; NULL when there is no more.
void* allocate(size_t size);
