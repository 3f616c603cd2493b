// SPDX-License-Identifier: MIT
// SHA-256 of n blocks, eight rounds written out in a loop: rotations of 32-bit words.

#include "kernels.h"
#include "sha256.h"

static void add_block(uint32_t* state, const uint8_t* block)
{
    uint32_t w[64];
// Written out it would add a quarter to the instructions.
#pragma GCC unroll 1
    for (int i = 0; i < 16; ++i)
        SHA256_WORD(i);
    for (int i = 16; i < 64; i += 8)
        SHA256_EIGHT_SCHEDULES(i);

    uint32_t a = state[0], b = state[1], c = state[2], d = state[3];
    uint32_t e = state[4], f = state[5], g = state[6], h = state[7];
    for (int i = 0; i < 64; i += 8)
        SHA256_EIGHT_ROUNDS(i);
    state[0] += a;
    state[1] += b;
    state[2] += c;
    state[3] += d;
    state[4] += e;
    state[5] += f;
    state[6] += g;
    state[7] += h;
}

uint64_t kernel_sha256_loop(uint64_t n)
{
    return sha256_fold(n, add_block);
}
