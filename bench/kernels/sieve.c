// SPDX-License-Identifier: MIT
// The primes below n, at most 65536, by the sieve of Eratosthenes: stores with a stride.

#include "kernels.h"

enum
{
    LARGEST = 65536
};

uint64_t kernel_sieve(uint64_t n)
{
    static uint8_t is_composite[LARGEST];
    for (uint64_t i = 0; i < n; ++i)
        is_composite[i] = 0;

    uint64_t count = 0;
    uint64_t sum = 0;
    for (uint64_t i = 2; i < n; ++i) {
        if (is_composite[i])
            continue;
        ++count;
        sum += i;
        for (uint64_t multiple = i * i; multiple < n; multiple += i)
            is_composite[multiple] = 1;
    }
    return sum * 10000 + count;
}
