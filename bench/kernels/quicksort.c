// SPDX-License-Identifier: MIT
// Sorts n 64-bit keys, at most 16384: loads, stores and branches that depend on data.

#include "kernels.h"

enum
{
    LARGEST = 16384
};

static void sort(uint64_t* first, uint64_t* last)
{
    while (first < last) {
        const uint64_t pivot = first[(last - first) / 2];
        uint64_t* left = first;
        uint64_t* right = last;
        while (left <= right) {
            while (*left < pivot)
                ++left;
            while (pivot < *right)
                --right;
            if (left <= right) {
                const uint64_t moved = *left;
                *left++ = *right;
                *right-- = moved;
            }
        }
        sort(first, right);
        first = left;
    }
}

uint64_t kernel_quicksort(uint64_t n)
{
    static uint64_t keys[LARGEST];
    uint64_t state = 88172645463325252u;
    for (uint64_t i = 0; i < n; ++i) {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        keys[i] = state;
    }
    if (n > 1)
        sort(keys, keys + n - 1);

    uint64_t checksum = 0;
    for (uint64_t i = 0; i < n; ++i)
        checksum = checksum * 31 + keys[i];
    return checksum;
}
