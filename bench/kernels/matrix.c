// SPDX-License-Identifier: MIT
// Product of two n by n matrices of 32-bit integers, n at most 64.

#include "kernels.h"

enum
{
    LARGEST = 64
};

uint64_t kernel_matrix(uint64_t n)
{
    static uint32_t a[LARGEST][LARGEST];
    static uint32_t b[LARGEST][LARGEST];
    static uint32_t product[LARGEST][LARGEST];
    for (uint64_t row = 0; row < n; ++row) {
        for (uint64_t column = 0; column < n; ++column) {
            a[row][column] = (uint32_t)(row * 31 + column * 7 + 1);
            b[row][column] = (uint32_t)(row * 17 + column * 13 + 5);
        }
    }

    for (uint64_t row = 0; row < n; ++row) {
        for (uint64_t column = 0; column < n; ++column) {
            uint32_t sum = 0;
            for (uint64_t i = 0; i < n; ++i)
                sum += a[row][i] * b[i][column];
            product[row][column] = sum;
        }
    }

    uint64_t checksum = 0;
    for (uint64_t row = 0; row < n; ++row) {
        for (uint64_t column = 0; column < n; ++column)
            checksum = checksum * 31 + product[row][column];
    }
    return checksum;
}
