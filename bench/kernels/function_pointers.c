// SPDX-License-Identifier: MIT
// Walks n times along a list of functions in mixed order and calls each: indirect calls.

#include "kernels.h"

typedef uint64_t Step(uint64_t value, uint64_t operand);

enum
{
    STEPS = 8,
    CALLS = 64
};

static uint64_t add(uint64_t value, uint64_t operand)
{
    return value + operand;
}

static uint64_t subtract(uint64_t value, uint64_t operand)
{
    return value - operand * 3;
}

static uint64_t flip(uint64_t value, uint64_t operand)
{
    return value ^ operand << 7;
}

static uint64_t scale(uint64_t value, uint64_t operand)
{
    return value * (operand | 1);
}

static uint64_t fold(uint64_t value, uint64_t operand)
{
    return value ^ value >> (operand & 31);
}

static uint64_t turn(uint64_t value, uint64_t operand)
{
    return (value << 13 | value >> 51) + operand;
}

static uint64_t choose(uint64_t value, uint64_t operand)
{
    return value < operand << 56 ? value + 1 : value - operand;
}

static uint64_t invert(uint64_t value, uint64_t operand)
{
    return ~value + operand;
}

uint64_t kernel_function_pointers(uint64_t n)
{
    static Step* const steps[STEPS] = {add, subtract, flip, scale, fold, turn, choose, invert};
    static struct
    {
        Step* step;
        uint64_t operand;
    } calls[CALLS];
    uint32_t seed = 1;
    for (int i = 0; i < CALLS; ++i) {
        seed = seed * 1664525u + 1013904223u;
        calls[i].step = steps[seed >> 29];
        calls[i].operand = seed >> 8 & 0xff;
    }

    uint64_t value = 1;
    for (uint64_t walk = 0; walk < n; ++walk) {
        for (int i = 0; i < CALLS; ++i)
            value = calls[i].step(value, calls[i].operand);
        calls[walk % CALLS].operand += value >> 60;
    }
    return value;
}
