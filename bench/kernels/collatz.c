// SPDX-License-Identifier: MIT
// Collatz sequences from every start below n: short loops with branches that are hard to predict.

#include "kernels.h"

uint64_t kernel_collatz(uint64_t n)
{
    uint64_t total = 0;
    uint64_t longest = 0;
    for (uint64_t start = 1; start < n; ++start) {
        uint64_t length = 0;
        for (uint64_t value = start; value != 1; ++length)
            value = value % 2 == 0 ? value / 2 : 3 * value + 1;
        total += length;
        if (length > longest)
            longest = length;
    }
    return total * 1000 + longest;
}
