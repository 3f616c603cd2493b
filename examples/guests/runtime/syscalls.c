// SPDX-License-Identifier: MIT
// System calls with the Linux numbers for RISC-V, and a bump allocator on top of brk.

#include "syscalls.h"

enum
{
    SYS_READ = 63,
    SYS_WRITE = 64,
    SYS_EXIT = 93,
    SYS_BRK = 214
};

static inline long system_call(long number, long first, long second, long third)
{
    register long a7 __asm__("a7") = number;
    register long a0 __asm__("a0") = first;
    register long a1 __asm__("a1") = second;
    register long a2 __asm__("a2") = third;
    __asm__ volatile("ecall" : "+r"(a0) : "r"(a1), "r"(a2), "r"(a7) : "memory");
    return a0;
}

long read(int descriptor, void* buffer, size_t size)
{
    return system_call(SYS_READ, descriptor, (long)buffer, (long)size);
}

long write(int descriptor, const void* buffer, size_t size)
{
    return system_call(SYS_WRITE, descriptor, (long)buffer, (long)size);
}

_Noreturn void _exit(int code)
{
    for (;;)
        system_call(SYS_EXIT, code, 0, 0);
}

// brk answers with the end of the heap: the new one, or the old one when it cannot be moved.
void* sbrk(long increment)
{
    static long end;
    if (end == 0)
        end = system_call(SYS_BRK, 0, 0, 0);
    const long start = end;
    if (system_call(SYS_BRK, start + increment, 0, 0) != start + increment)
        return (void*)-1;
    end = start + increment;
    return (void*)start;
}

void* allocate(size_t size)
{
    static char* next;
    static char* limit;
    if (size > (size_t)1 << 40)
        return NULL;
    size = (size + 15) & ~(size_t)15;
    if (size > (size_t)(limit - next)) {
        const size_t wanted = (size - (size_t)(limit - next) + 4095) & ~(size_t)4095;
        char* const more = sbrk((long)wanted);
        if (more == (void*)-1)
            return NULL;
        if (next == NULL)
            next = more;
        limit = more + wanted;
    }
    char* const result = next;
    next += size;
    return result;
}
