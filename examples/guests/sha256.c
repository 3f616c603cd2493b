// SPDX-License-Identifier: MIT
// SHA-256 (FIPS 180-4) of stdin, printed like sha256sum does; --self-test checks known digests.
// Exit code: 0 done, 1 the self-test failed or stdin or stdout did, 2 the check at the start
// failed, 3 wrong arguments.

#include "runtime/syscalls.h"
#include "runtime/text.h"

typedef struct
{
    uint32_t state[8];
    uint64_t size;
    uint8_t block[64];
} sha256;

// The first 32 bits of the fractional parts of the cube roots of the first 64 primes.
static const uint32_t ROUND_CONSTANTS[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

static uint32_t rotate_right(uint32_t word, unsigned count)
{
    return word >> count | word << (32 - count);
}

static void start(sha256* hash)
{
    // The first 32 bits of the fractional parts of the square roots of the first 8 primes.
    static const uint32_t INITIAL[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                        0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
    for (int i = 0; i < 8; ++i)
        hash->state[i] = INITIAL[i];
    hash->size = 0;
}

static void add_block(uint32_t state[8], const uint8_t* block)
{
    uint32_t w[64];
    for (int i = 0; i < 16; ++i) {
        const uint8_t* const from = block + 4 * i;
        w[i] = (uint32_t)from[0] << 24 | (uint32_t)from[1] << 16 | (uint32_t)from[2] << 8 | from[3];
    }
    for (int i = 16; i < 64; ++i) {
        const uint32_t x = w[i - 15];
        const uint32_t y = w[i - 2];
        const uint32_t small0 = rotate_right(x, 7) ^ rotate_right(x, 18) ^ x >> 3;
        const uint32_t small1 = rotate_right(y, 17) ^ rotate_right(y, 19) ^ y >> 10;
        w[i] = w[i - 16] + small0 + w[i - 7] + small1;
    }

    uint32_t a = state[0], b = state[1], c = state[2], d = state[3];
    uint32_t e = state[4], f = state[5], g = state[6], h = state[7];
    for (int i = 0; i < 64; ++i) {
        const uint32_t big1 = rotate_right(e, 6) ^ rotate_right(e, 11) ^ rotate_right(e, 25);
        const uint32_t big0 = rotate_right(a, 2) ^ rotate_right(a, 13) ^ rotate_right(a, 22);
        const uint32_t t1 = h + big1 + ((e & f) ^ (~e & g)) + ROUND_CONSTANTS[i] + w[i];
        const uint32_t t2 = big0 + ((a & b) ^ (a & c) ^ (b & c));
        h = g;
        g = f;
        f = e;
        e = d + t1;
        d = c;
        c = b;
        b = a;
        a = t1 + t2;
    }
    state[0] += a;
    state[1] += b;
    state[2] += c;
    state[3] += d;
    state[4] += e;
    state[5] += f;
    state[6] += g;
    state[7] += h;
}

static void add(sha256* hash, const uint8_t* data, size_t size)
{
    for (size_t i = 0; i < size;) {
        const size_t used = hash->size % 64;
        if (used == 0 && size - i >= 64) {
            add_block(hash->state, data + i);
            hash->size += 64;
            i += 64;
            continue;
        }
        hash->block[used] = data[i++];
        ++hash->size;
        if (used == 63)
            add_block(hash->state, hash->block);
    }
}

static void finish(sha256* hash, uint8_t digest[32])
{
    const uint64_t bits = hash->size * 8;
    uint8_t end[72] = {0x80};
    const size_t padding = 1 + (119 - hash->size % 64) % 64;
    for (int i = 0; i < 8; ++i)
        end[padding + (size_t)i] = (uint8_t)(bits >> (56 - 8 * i));
    add(hash, end, padding + 8);
    for (int i = 0; i < 32; ++i)
        digest[i] = (uint8_t)(hash->state[i / 4] >> (24 - 8 * (i % 4)));
}

// Whether the text, repeated, has this digest (given as eight words).
static bool check(const char* text, unsigned times, const uint32_t expected[8])
{
    sha256 hash;
    start(&hash);
    for (unsigned i = 0; i < times; ++i)
        add(&hash, (const uint8_t*)text, text_length(text));
    uint8_t digest[32];
    finish(&hash, digest);
    for (int i = 0; i < 8; ++i) {
        if (hash.state[i] != expected[i] || digest[4 * i] != expected[i] >> 24)
            return false;
    }
    return true;
}

static bool short_check(void)
{
    static const uint32_t ABC[8] = {0xba7816bf, 0x8f01cfea, 0x414140de, 0x5dae2223,
                                    0xb00361a3, 0x96177a9c, 0xb410ff61, 0xf20015ad};
    static const uint32_t EMPTY[8] = {0xe3b0c442, 0x98fc1c14, 0x9afbf4c8, 0x996fb924,
                                      0x27ae41e4, 0x649b934c, 0xa495991b, 0x7852b855};
    return check("abc", 1, ABC) && check("", 1, EMPTY);
}

static bool long_check(void)
{
    static const uint32_t MILLION_A[8] = {0xcdc76e5c, 0x9914fb92, 0x81a1c7e2, 0x84d73e67,
                                          0xf1809a48, 0xa497200e, 0x046d39cc, 0xc7112cd0};
    static char thousand[1001];
    for (int i = 0; i < 1000; ++i)
        thousand[i] = 'a';
    return check(thousand, 1000, MILLION_A);
}

static int self_test(void)
{
    const bool passed = short_check() && long_check();
    if (!print(passed ? "sha256 self-test passed\n" : "sha256 self-test FAILED\n"))
        return 1;
    return passed ? 0 : 1;
}

static int hash_stdin(void)
{
    static uint8_t buffer[4096];
    sha256 hash;
    start(&hash);
    for (;;) {
        const long size = read(0, buffer, sizeof buffer);
        if (size < 0)
            return 1;
        if (size == 0)
            break;
        add(&hash, buffer, (size_t)size);
    }
    uint8_t digest[32];
    finish(&hash, digest);
    return print_hex(digest, sizeof digest) && print("  -\n") ? 0 : 1;
}

int main(int argc, char** argv)
{
    if (argc == 2 && text_equal(argv[1], "--self-test"))
        return self_test();
    if (argc > 1) {
        print("usage: sha256 [--self-test] < FILE\n");
        return 3;
    }
    return short_check() ? hash_stdin() : 2;
}
