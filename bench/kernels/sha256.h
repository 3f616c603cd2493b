// SPDX-License-Identifier: MIT
/// @file
/// SHA-256 (FIPS 180-4) as macros, of which kernels write out as many rounds as they like.
#pragma once

#include <stdint.h>

/// The first 32 bits of the fractional parts of the cube roots of the first 64 primes.
static const uint32_t sha256_constants[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

static inline uint32_t sha256_rotate(uint32_t word, unsigned count)
{
    return word >> count | word << (32 - count);
}

/// Sets word @p i of the message schedule `w` from the bytes of `block`; i is below 16.
#define SHA256_WORD(i)                                                              \
    (w[(i)] = (uint32_t)block[4 * (i)] << 24 | (uint32_t)block[4 * (i) + 1] << 16 | \
              (uint32_t)block[4 * (i) + 2] << 8 | block[4 * (i) + 3])

#define SHA256_EIGHT_WORDS(i) \
    do {                      \
        SHA256_WORD((i) + 0); \
        SHA256_WORD((i) + 1); \
        SHA256_WORD((i) + 2); \
        SHA256_WORD((i) + 3); \
        SHA256_WORD((i) + 4); \
        SHA256_WORD((i) + 5); \
        SHA256_WORD((i) + 6); \
        SHA256_WORD((i) + 7); \
    } while (0)

/// Sets word @p i from earlier ones; i is at least 16.
#define SHA256_SCHEDULE(i)                                                                     \
    (w[(i)] =                                                                                  \
         w[(i) - 16] + w[(i) - 7] +                                                            \
         (sha256_rotate(w[(i) - 15], 7) ^ sha256_rotate(w[(i) - 15], 18) ^ w[(i) - 15] >> 3) + \
         (sha256_rotate(w[(i) - 2], 17) ^ sha256_rotate(w[(i) - 2], 19) ^ w[(i) - 2] >> 10))

#define SHA256_EIGHT_SCHEDULES(i) \
    do {                          \
        SHA256_SCHEDULE((i) + 0); \
        SHA256_SCHEDULE((i) + 1); \
        SHA256_SCHEDULE((i) + 2); \
        SHA256_SCHEDULE((i) + 3); \
        SHA256_SCHEDULE((i) + 4); \
        SHA256_SCHEDULE((i) + 5); \
        SHA256_SCHEDULE((i) + 6); \
        SHA256_SCHEDULE((i) + 7); \
    } while (0)

#define SHA256_ROUND(a, b, c, d, e, f, g, h, i)                                    \
    do {                                                                           \
        h += (sha256_rotate(e, 6) ^ sha256_rotate(e, 11) ^ sha256_rotate(e, 25)) + \
             (g ^ (e & (f ^ g))) + sha256_constants[(i)] + w[(i)];                 \
        d += h;                                                                    \
        h += (sha256_rotate(a, 2) ^ sha256_rotate(a, 13) ^ sha256_rotate(a, 22)) + \
             ((a & b) | (c & (a | b)));                                            \
    } while (0)

/// Eight rounds, behind which the variables have returned to their places, so that none moves.
#define SHA256_EIGHT_ROUNDS(i)                         \
    do {                                               \
        SHA256_ROUND(a, b, c, d, e, f, g, h, (i) + 0); \
        SHA256_ROUND(h, a, b, c, d, e, f, g, (i) + 1); \
        SHA256_ROUND(g, h, a, b, c, d, e, f, (i) + 2); \
        SHA256_ROUND(f, g, h, a, b, c, d, e, (i) + 3); \
        SHA256_ROUND(e, f, g, h, a, b, c, d, (i) + 4); \
        SHA256_ROUND(d, e, f, g, h, a, b, c, (i) + 5); \
        SHA256_ROUND(c, d, e, f, g, h, a, b, (i) + 6); \
        SHA256_ROUND(b, c, d, e, f, g, h, a, (i) + 7); \
    } while (0)

/// The state behind @p n blocks of 64 bytes without padding, folded.
static inline uint64_t sha256_fold(uint64_t n,
                                   void (*add_block)(uint32_t* state, const uint8_t* block))
{
    enum
    {
        BLOCKS = 16,
        BLOCK_SIZE = 64
    };
    static uint8_t message[BLOCKS * BLOCK_SIZE];
    for (uint32_t i = 0; i < sizeof message; ++i)
        message[i] = (uint8_t)(i * 2654435761u >> 24);

    uint32_t state[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                         0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
    for (uint64_t i = 0; i < n; ++i)
        add_block(state, message + i % BLOCKS * BLOCK_SIZE);

    uint64_t checksum = 0;
    for (int i = 0; i < 8; ++i)
        checksum = checksum * 31 + state[i];
    return checksum;
}
