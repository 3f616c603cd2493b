// SPDX-License-Identifier: MIT
// SHA-256 of n blocks, all rounds written out: thousands of instructions between two branches.

#include "kernels.h"
#include "sha256.h"

static void add_block(uint32_t* state, const uint8_t* block)
{
    uint32_t w[64];
    SHA256_EIGHT_WORDS(0);
    SHA256_EIGHT_WORDS(8);
    SHA256_EIGHT_SCHEDULES(16);
    SHA256_EIGHT_SCHEDULES(24);
    SHA256_EIGHT_SCHEDULES(32);
    SHA256_EIGHT_SCHEDULES(40);
    SHA256_EIGHT_SCHEDULES(48);
    SHA256_EIGHT_SCHEDULES(56);

    uint32_t a = state[0], b = state[1], c = state[2], d = state[3];
    uint32_t e = state[4], f = state[5], g = state[6], h = state[7];
    SHA256_EIGHT_ROUNDS(0);
    SHA256_EIGHT_ROUNDS(8);
    SHA256_EIGHT_ROUNDS(16);
    SHA256_EIGHT_ROUNDS(24);
    SHA256_EIGHT_ROUNDS(32);
    SHA256_EIGHT_ROUNDS(40);
    SHA256_EIGHT_ROUNDS(48);
    SHA256_EIGHT_ROUNDS(56);
    state[0] += a;
    state[1] += b;
    state[2] += c;
    state[3] += d;
    state[4] += e;
    state[5] += f;
    state[6] += g;
    state[7] += h;
}

uint64_t kernel_sha256_straight(uint64_t n)
{
    return sha256_fold(n, add_block);
}
