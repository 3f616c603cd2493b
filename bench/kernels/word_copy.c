// SPDX-License-Identifier: MIT
// Copies 1024 words of 64 bits n times, there and back: nothing but loads and stores.

#include "kernels.h"

enum
{
    WORDS = 1024
};

static void copy(uint64_t* restrict to, const uint64_t* restrict from)
{
#pragma GCC unroll 8
    for (int i = 0; i < WORDS; ++i)
        to[i] = from[i];
    // Copies of the same words must not become one.
    __asm__ volatile("" : : : "memory");
}

uint64_t kernel_word_copy(uint64_t n)
{
    static uint64_t here[WORDS];
    static uint64_t there[WORDS];
    uint64_t seed = 1;
    for (int i = 0; i < WORDS; ++i) {
        seed = seed * 6364136223846793005u + 1442695040888963407u;
        here[i] = seed;
        there[i] = ~seed;
    }

    for (uint64_t i = 0; i < n; ++i) {
        copy(there, here);
        here[i % WORDS] += i;
        copy(here, there);
        there[i * 7 % WORDS] ^= i;
    }

    uint64_t checksum = 0;
    for (int i = 0; i < WORDS; ++i)
        checksum = checksum * 31 + here[i] + there[i];
    return checksum;
}
