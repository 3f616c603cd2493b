// SPDX-License-Identifier: MIT
// Counts a pattern in n letters, at most 65536, skipping ahead by the last letter looked at.

#include "kernels.h"

enum
{
    LARGEST = 65536,
    LENGTH = 6
};

uint64_t kernel_search(uint64_t n)
{
    static uint8_t text[LARGEST];
    static const uint8_t pattern[LENGTH] = {'c', 'a', 'b', 'd', 'a', 'b'};

    uint32_t seed = 1;
    for (uint64_t i = 0; i < n; ++i) {
        seed = seed * 1103515245u + 12345u;
        text[i] = (uint8_t)('a' + (seed >> 16) % 4);
    }

    uint8_t skip[256];
    for (int letter = 0; letter < 256; ++letter)
        skip[letter] = LENGTH;
    for (int i = 0; i < LENGTH - 1; ++i)
        skip[pattern[i]] = (uint8_t)(LENGTH - 1 - i);

    uint64_t count = 0;
    uint64_t places = 0;
    for (uint64_t at = 0; at + LENGTH <= n; at += skip[text[at + LENGTH - 1]]) {
        int matching = 0;
        while (matching < LENGTH && text[at + (uint64_t)matching] == pattern[matching])
            ++matching;
        if (matching == LENGTH) {
            ++count;
            places += at;
        }
    }
    return places * 1000 + count;
}
