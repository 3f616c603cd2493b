// SPDX-License-Identifier: MIT
// Sum of n products of 64-bit numbers in 192 bits: wide multiplications and carry chains, as in the
// arithmetic of public keys.

#include "kernels.h"

__extension__ typedef unsigned __int128 uint128_t;

enum
{
    LIMBS = 64
};

uint64_t kernel_multiply_accumulate(uint64_t n)
{
    static uint64_t a[LIMBS];
    static uint64_t b[LIMBS];
    uint64_t seed = 1;
    for (int i = 0; i < LIMBS; ++i) {
        seed = seed * 6364136223846793005u + 1442695040888963407u;
        a[i] = seed;
        b[i] = ~seed * 3;
    }

    uint64_t low = 0;
    uint64_t middle = 0;
    uint64_t high = 0;
    for (uint64_t i = 0; i < n; ++i) {
        const uint128_t product = (uint128_t)a[i % LIMBS] * b[(i * 5 + 3) % LIMBS];
        const uint128_t sum = (uint128_t)low + (uint64_t)product;
        low = (uint64_t)sum;
        const uint128_t carried = (uint128_t)middle + (uint64_t)(product >> 64) + (sum >> 64);
        middle = (uint64_t)carried;
        high += (uint64_t)(carried >> 64);
    }
    return low ^ middle ^ high;
}
