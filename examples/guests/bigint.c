// SPDX-License-Identifier: MIT
// Arithmetic modulo the prime of secp256k1 with 64-bit words, checked against known results.
// Exit code: 0 all checks hold, 1 stdout failed, 2 to 8 the check that does not hold.

#include "runtime/text.h"

typedef unsigned __int128 uint128;

// 256 bits, least significant word first; always below the prime.
typedef struct
{
    uint64_t words[4];
} number;

// The prime is 2^256 - FOLD, so 2^256 may be replaced by FOLD.
#define FOLD UINT64_C(0x1000003d1)

static const number PRIME = {{-FOLD, -UINT64_C(1), -UINT64_C(1), -UINT64_C(1)}};

// The full product of two words, in the order and with the registers that a machine may fuse.
static inline uint64_t multiply_wide(uint64_t left, uint64_t right, uint64_t* high)
{
    uint64_t low;
    __asm__("mulhu %0, %2, %3\n\tmul %1, %2, %3" : "=&r"(*high), "=r"(low) : "r"(left), "r"(right));
    return low;
}

// carry:sum = left + right + carry; five instructions which a machine may fuse into one.
static inline uint64_t add_words(uint64_t left, uint64_t right, uint64_t* carry)
{
    __asm__(
        "add %0, %0, %1\n\t"
        "sltu %1, %0, %1\n\t"
        "add %0, %0, %2\n\t"
        "sltu %2, %0, %2\n\t"
        "or %1, %1, %2"
        : "+&r"(left), "+&r"(right), "+&r"(*carry));
    *carry = right;
    return left;
}

// difference - borrow * 2^64 = left - right - borrow; likewise.
static inline uint64_t subtract_words(uint64_t left, uint64_t right, uint64_t* borrow)
{
    uint64_t first_borrow;
    __asm__(
        "sub %0, %1, %0\n\t"
        "sltu %2, %1, %0\n\t"
        "sub %1, %0, %3\n\t"
        "sltu %3, %0, %1\n\t"
        "or %0, %3, %2"
        : "+&r"(right), "+&r"(left), "=&r"(first_borrow), "+&r"(*borrow));
    *borrow = right;
    return left;
}

// carry:result = left * right + addend + carry, which always fits two words
static inline uint64_t multiply_add(uint64_t left, uint64_t right, uint64_t addend, uint64_t* carry)
{
    uint64_t high;
    uint64_t low = multiply_wide(left, right, &high);
    low += addend;
    high += low < addend;
    low += *carry;
    high += low < *carry;
    *carry = high;
    return low;
}

static bool equal(number left, number right)
{
    uint64_t different = 0;
    for (int i = 0; i < 4; ++i)
        different |= left.words[i] ^ right.words[i];
    return different == 0;
}

static number small(uint64_t value)
{
    return (number){{value, 0, 0, 0}};
}

// Takes the prime away once when high * 2^256 + value is not below it.
static number reduce_once(number value, uint64_t high)
{
    number less;
    uint64_t borrow = 0;
    for (int i = 0; i < 4; ++i)
        less.words[i] = subtract_words(value.words[i], PRIME.words[i], &borrow);
    const uint64_t keep = -(uint64_t)(borrow > high);
    for (int i = 0; i < 4; ++i)
        value.words[i] = (value.words[i] & keep) | (less.words[i] & ~keep);
    return value;
}

static number add(number left, number right)
{
    uint64_t carry = 0;
    for (int i = 0; i < 4; ++i)
        left.words[i] = add_words(left.words[i], right.words[i], &carry);
    return reduce_once(left, carry);
}

static number subtract(number left, number right)
{
    uint64_t borrow = 0;
    for (int i = 0; i < 4; ++i)
        left.words[i] = subtract_words(left.words[i], right.words[i], &borrow);
    const uint64_t keep = -borrow;
    uint64_t carry = 0;
    for (int i = 0; i < 4; ++i)
        left.words[i] = add_words(left.words[i], PRIME.words[i] & keep, &carry);
    return left;
}

static number multiply(number left, number right)
{
    uint64_t product[8] = {0};
    for (int i = 0; i < 4; ++i) {
        uint64_t carry = 0;
        for (int j = 0; j < 4; ++j) {
            product[i + j] = multiply_add(left.words[i], right.words[j], product[i + j], &carry);
        }
        product[i + 4] = carry;
    }

    // The upper half counts FOLD times, then what is left above 2^256 does once more.
    number result;
    uint64_t carry = 0;
    for (int i = 0; i < 4; ++i)
        result.words[i] = multiply_add(product[i + 4], FOLD, product[i], &carry);
    uint64_t high;
    const uint64_t low = multiply_wide(carry, FOLD, &high);
    const uint64_t rest[4] = {low, high, 0, 0};
    carry = 0;
    for (int i = 0; i < 4; ++i)
        result.words[i] = add_words(result.words[i], rest[i], &carry);
    return reduce_once(result, carry);
}

// The same product bit by bit and without any multiplication, to compare with.
static number multiply_slowly(number left, number right)
{
    number result = small(0);
    for (int bit = 255; bit >= 0; --bit) {
        result = add(result, result);
        if (right.words[bit / 64] >> (bit % 64) & 1)
            result = add(result, left);
    }
    return result;
}

static number power(number base, number exponent)
{
    number result = small(1);
    for (int bit = 255; bit >= 0; --bit) {
        result = multiply(result, result);
        if (exponent.words[bit / 64] >> (bit % 64) & 1)
            result = multiply(result, base);
    }
    return result;
}

// By Fermat: the exponent is the prime minus 2.
static number inverse(number value)
{
    number exponent = PRIME;
    exponent.words[0] -= 2;
    return power(value, exponent);
}

// Word by word with the compiler's own 128-bit type.
static number add_plainly(number left, number right)
{
    number result;
    uint128 sum = 0;
    for (int i = 0; i < 4; ++i) {
        sum += (uint128)left.words[i] + right.words[i];
        result.words[i] = (uint64_t)sum;
        sum >>= 64;
    }
    return reduce_once(result, (uint64_t)sum);
}

static bool print_big(const char* name, number value)
{
    uint8_t bytes[32];
    for (int i = 0; i < 32; ++i)
        bytes[i] = (uint8_t)(value.words[3 - i / 8] >> (56 - 8 * (i % 8)));
    return print(name) && print_hex(bytes, sizeof bytes) && print("\n");
}

int main(void)
{
    // The base point of the curve y^2 = x^3 + 7, and twice that point.
    static const number X = {{UINT64_C(0x59f2815b16f81798), UINT64_C(0x029bfcdb2dce28d9),
                              UINT64_C(0x55a06295ce870b07), UINT64_C(0x79be667ef9dcbbac)}};
    static const number Y = {{UINT64_C(0x9c47d08ffb10d4b8), UINT64_C(0xfd17b448a6855419),
                              UINT64_C(0x5da4fbfc0e1108a8), UINT64_C(0x483ada7726a3c465)}};
    static const number TWICE_X = {{UINT64_C(0xabac09b95c709ee5), UINT64_C(0x5c778e4b8cef3ca7),
                                    UINT64_C(0x3045406e95c07cd8), UINT64_C(0xc6047f9441ed7d6d)}};

    const number minus_one = subtract(small(0), small(1));
    if (!equal(add(minus_one, small(1)), small(0)) ||
        !equal(multiply(minus_one, minus_one), small(1)))
        return 2;

    number value = X;
    for (int i = 0; i < 16; ++i) {
        const number next = multiply(value, Y);
        if (!equal(next, multiply_slowly(value, Y)))
            return 3;
        if (!equal(subtract(add_plainly(next, value), value), next) ||
            !equal(add(next, value), add_plainly(value, next)))
            return 4;
        value = next;
    }
    if (!equal(power(value, minus_one), small(1)))
        return 5;
    if (!equal(multiply(value, inverse(value)), small(1)))
        return 6;

    const number x_squared = multiply(X, X);
    if (!equal(multiply(Y, Y), add(multiply(x_squared, X), small(7))))
        return 7;
    const number slope = multiply(add(add(x_squared, x_squared), x_squared), inverse(add(Y, Y)));
    const number twice_x = subtract(subtract(multiply(slope, slope), X), X);
    const number twice_y = subtract(multiply(slope, subtract(X, twice_x)), Y);
    if (!equal(twice_x, TWICE_X))
        return 8;

    const bool printed = print_big("2G.x = ", twice_x) && print_big("2G.y = ", twice_y) &&
                         print("all checks passed\n");
    return printed ? 0 : 1;
}
