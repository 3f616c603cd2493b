// SPDX-License-Identifier: MIT
// A small bytecode interpreter; it sieves primes and searches the longest Collatz sequence below
// LIMIT (default 1000) and compares with the same computed directly.
// Exit code: 0 equal, 1 not equal, no memory or stdout failed, 2 wrong arguments.

#include "runtime/syscalls.h"
#include "runtime/text.h"

enum
{
    MAX_LIMIT = 2000000
};

// An instruction has three operands: registers a and b, and a register, constant or target c.
typedef enum
{
    HALT,
    SET,                // a = c
    COPY,               // a = b
    ADD,                // a = b + register c
    ADD_CONSTANT,       // a = b + c
    MULTIPLY,           // a = b * register c
    MULTIPLY_CONSTANT,  // a = b * c
    SHIFT_RIGHT,        // a = b >> c
    AND_CONSTANT,       // a = b & c
    LOAD,               // a = memory[b]
    STORE,              // memory[b] = a
    JUMP,               // go to c
    JUMP_IF_ZERO,       // go to c if a = 0
    JUMP_IF_LESS,       // go to c if a < b
    JUMP_IF_EQUAL       // go to c if a = b
} operation;

typedef struct
{
    uint8_t operation;
    uint8_t a;
    uint8_t b;
    int16_t c;
} instruction;

enum
{
    REGISTERS = 8
};

// Runs until HALT; returns the number of instructions.
static uint64_t interpret(const instruction* code, uint64_t r[REGISTERS], uint8_t* memory)
{
    const instruction* next = code;
    for (uint64_t count = 1;; ++count) {
        const instruction i = *next++;
        switch ((operation)i.operation) {
        case HALT:
            return count;
        case SET:
            r[i.a] = (uint64_t)i.c;
            break;
        case COPY:
            r[i.a] = r[i.b];
            break;
        case ADD:
            r[i.a] = r[i.b] + r[i.c];
            break;
        case ADD_CONSTANT:
            r[i.a] = r[i.b] + (uint64_t)i.c;
            break;
        case MULTIPLY:
            r[i.a] = r[i.b] * r[i.c];
            break;
        case MULTIPLY_CONSTANT:
            r[i.a] = r[i.b] * (uint64_t)i.c;
            break;
        case SHIFT_RIGHT:
            r[i.a] = r[i.b] >> i.c;
            break;
        case AND_CONSTANT:
            r[i.a] = r[i.b] & (uint64_t)i.c;
            break;
        case LOAD:
            r[i.a] = memory[r[i.b]];
            break;
        case STORE:
            memory[r[i.b]] = (uint8_t)r[i.a];
            break;
        case JUMP:
            next = code + i.c;
            break;
        case JUMP_IF_ZERO:
            if (r[i.a] == 0)
                next = code + i.c;
            break;
        case JUMP_IF_LESS:
            if (r[i.a] < r[i.b])
                next = code + i.c;
            break;
        case JUMP_IF_EQUAL:
            if (r[i.a] == r[i.b])
                next = code + i.c;
            break;
        }
    }
}

// r0 = number of primes below r1; memory[0] to memory[r1 - 1] must be 0
static const instruction PRIMES[] = {
    /*  0 */ {SET, 0, 0, 0},
    /*  1 */ {SET, 2, 0, 2},  // r2: the candidate
    /*  2 */ {SET, 5, 0, 1},  // r5: the mark
    /*  3 */ {JUMP_IF_LESS, 2, 1, 5},
    /*  4 */ {HALT, 0, 0, 0},
    /*  5 */ {LOAD, 3, 2, 0},
    /*  6 */ {JUMP_IF_EQUAL, 3, 5, 13},
    /*  7 */ {ADD_CONSTANT, 0, 0, 1},
    /*  8 */ {MULTIPLY, 4, 2, 2},  // r4: its multiples, from the square on
    /*  9 */ {JUMP, 0, 0, 12},
    /* 10 */ {STORE, 5, 4, 0},
    /* 11 */ {ADD, 4, 4, 2},
    /* 12 */ {JUMP_IF_LESS, 4, 1, 10},
    /* 13 */ {ADD_CONSTANT, 2, 2, 1},
    /* 14 */ {JUMP, 0, 0, 3}};

// r0 = the first start below r1 with the longest sequence, r7 = the steps from there to 1
static const instruction COLLATZ[] = {
    /*  0 */ {SET, 0, 0, 1},
    /*  1 */ {SET, 7, 0, 0},
    /*  2 */ {SET, 6, 0, 1},  // r6: constant 1
    /*  3 */ {SET, 2, 0, 1},  // r2: the start
    /*  4 */ {JUMP_IF_LESS, 2, 1, 6},
    /*  5 */ {HALT, 0, 0, 0},
    /*  6 */ {COPY, 3, 2, 0},  // r3: the number
    /*  7 */ {SET, 4, 0, 0},   // r4: the steps so far
    /*  8 */ {JUMP_IF_EQUAL, 3, 6, 17},
    /*  9 */ {ADD_CONSTANT, 4, 4, 1},
    /* 10 */ {AND_CONSTANT, 5, 3, 1},
    /* 11 */ {JUMP_IF_ZERO, 5, 0, 15},
    /* 12 */ {MULTIPLY_CONSTANT, 3, 3, 3},
    /* 13 */ {ADD_CONSTANT, 3, 3, 1},
    /* 14 */ {JUMP, 0, 0, 8},
    /* 15 */ {SHIFT_RIGHT, 3, 3, 1},
    /* 16 */ {JUMP, 0, 0, 8},
    /* 17 */ {JUMP_IF_LESS, 7, 4, 20},
    /* 18 */ {ADD_CONSTANT, 2, 2, 1},
    /* 19 */ {JUMP, 0, 0, 4},
    /* 20 */ {COPY, 0, 2, 0},
    /* 21 */ {COPY, 7, 4, 0},
    /* 22 */ {JUMP, 0, 0, 18}};

static uint64_t count_primes(uint64_t limit)
{
    uint64_t primes = 0;
    for (uint64_t i = 2; i < limit; ++i) {
        uint64_t divisor = 2;
        while (divisor * divisor <= i && i % divisor != 0)
            ++divisor;
        primes += divisor * divisor > i;
    }
    return primes;
}

static uint64_t longest_collatz(uint64_t limit, uint64_t* steps)
{
    uint64_t best = 1;
    *steps = 0;
    for (uint64_t start = 1; start < limit; ++start) {
        uint64_t count = 0;
        for (uint64_t i = start; i != 1; ++count)
            i = i % 2 == 0 ? i / 2 : 3 * i + 1;
        if (count > *steps) {
            *steps = count;
            best = start;
        }
    }
    return best;
}

int main(int argc, char** argv)
{
    uint64_t limit = 1000;
    if (argc > 2 || (argc == 2 && !parse_number(argv[1], MAX_LIMIT, &limit))) {
        print("usage: interp [LIMIT], at most 2000000\n");
        return 2;
    }
    uint8_t* const memory = allocate(limit + 1);
    if (memory == NULL) {
        print("not enough memory\n");
        return 1;
    }

    uint64_t primes[REGISTERS] = {0, limit};
    uint64_t collatz[REGISTERS] = {0, limit};
    const uint64_t executed =
        interpret(PRIMES, primes, memory) + interpret(COLLATZ, collatz, memory);
    const bool printed = print("primes below ") && print_number(limit) && print(": ") &&
                         print_number(primes[0]) && print("\nlongest Collatz sequence from ") &&
                         print_number(collatz[0]) && print(": ") && print_number(collatz[7]) &&
                         print(" steps\nbytecode instructions: ") && print_number(executed) &&
                         print("\n");

    uint64_t steps;
    const uint64_t best = longest_collatz(limit, &steps);
    const bool equal =
        primes[0] == count_primes(limit) && collatz[0] == best && collatz[7] == steps;
    if (!equal)
        print("the interpreter is WRONG\n");
    return printed && equal ? 0 : 1;
}
