// SPDX-License-Identifier: MIT
// n Montgomery multiplications of 256 bits modulo the prime of secp256k1, each of the two results
// before: wide multiplications and carries, all in one line.

#include "kernels.h"

__extension__ typedef unsigned __int128 uint128_t;

enum
{
    LIMBS = 4
};

static const uint64_t modulus[LIMBS] = {0xfffffffefffffc2f, 0xffffffffffffffff, 0xffffffffffffffff,
                                        0xffffffffffffffff};
// -1 divided by the modulus, modulo 2^64.
static const uint64_t negative_inverse = 0xd838091dd2253531;

// The low half of addend + left * right + *carry; the high half becomes the carry.
static inline uint64_t multiply_add(uint64_t addend, uint64_t left, uint64_t right, uint64_t* carry)
{
    const uint128_t sum = (uint128_t)left * right + addend + *carry;
    *carry = (uint64_t)(sum >> 64);
    return (uint64_t)sum;
}

// product = left * right / 2^256 modulo the modulus, fully reduced if the factors are.
static void multiply(uint64_t* product, const uint64_t* left, const uint64_t* right)
{
    uint64_t sum[LIMBS] = {0};
    uint64_t top = 0;
    for (int i = 0; i < LIMBS; ++i) {
        uint64_t carry = 0;
        for (int j = 0; j < LIMBS; ++j)
            sum[j] = multiply_add(sum[j], left[j], right[i], &carry);
        const uint128_t high = (uint128_t)top + carry;

        const uint64_t factor = sum[0] * negative_inverse;
        carry = 0;
        (void)multiply_add(sum[0], modulus[0], factor, &carry);
        for (int j = 1; j < LIMBS; ++j)
            sum[j - 1] = multiply_add(sum[j], modulus[j], factor, &carry);
        const uint128_t shifted = high + carry;
        sum[LIMBS - 1] = (uint64_t)shifted;
        top = (uint64_t)(shifted >> 64);
    }

    uint64_t reduced[LIMBS];
    uint64_t borrow = 0;
    for (int j = 0; j < LIMBS; ++j) {
        const uint128_t difference = (uint128_t)sum[j] - modulus[j] - borrow;
        reduced[j] = (uint64_t)difference;
        borrow = (uint64_t)(difference >> 64) & 1;
    }
    for (int j = 0; j < LIMBS; ++j)
        product[j] = top < borrow ? sum[j] : reduced[j];
}

uint64_t kernel_montgomery(uint64_t n)
{
    uint64_t older[LIMBS] = {1, 2, 3, 4};
    uint64_t newer[LIMBS] = {5, 6, 7, 8};
    for (uint64_t i = 0; i < n; ++i) {
        uint64_t product[LIMBS];
        multiply(product, older, newer);
        for (int j = 0; j < LIMBS; ++j) {
            older[j] = newer[j];
            newer[j] = product[j];
        }
    }

    uint64_t checksum = 0;
    for (int j = 0; j < LIMBS; ++j)
        checksum = checksum * 31 + newer[j];
    return checksum;
}
