// SPDX-License-Identifier: MIT
// An interpreter of bytecode whose program mixes numbers in n rounds: a switch as the hot spot.

#include "kernels.h"

typedef enum
{
    HALT,         // answer with register a
    SET,          // a = b * 256 + c
    ADD,          // a = b + c
    MULTIPLY,     // a = b * c
    XOR,          // a = b ^ c
    AND,          // a = b & c
    SHIFT_RIGHT,  // a = b >> c, c itself being the number of bits
    LOAD,         // a = memory[b]
    STORE,        // memory[b] = a
    JUMP_EVEN,    // to instruction b when a is even
    JUMP_BELOW,   // to instruction c when a < b
} Operation;

typedef struct
{
    uint8_t operation;
    uint8_t a;
    uint8_t b;
    uint8_t c;
} Instruction;

enum
{
    CELLS = 64
};

// Names of registers. The caller sets END and MULTIPLIER.
enum
{
    END,
    MULTIPLIER,
    ROUND,
    ONE,
    MASK,
    NUMBER,
    CELL,
    VALUE,
    SUM,
    REGISTERS
};

static const Instruction program[] = {
    {SET, ONE, 0, 1},
    {SET, MASK, 0, CELLS - 1},
    {SET, ROUND, 0, 0},
    {SET, NUMBER, 1, 17},
    {SET, SUM, 0, 0},
    {MULTIPLY, NUMBER, NUMBER, MULTIPLIER},  // 5: a round begins
    {ADD, NUMBER, NUMBER, ROUND},
    {SHIFT_RIGHT, CELL, NUMBER, 40},
    {AND, CELL, CELL, MASK},
    {LOAD, VALUE, CELL, 0},
    {XOR, VALUE, VALUE, NUMBER},
    {STORE, VALUE, CELL, 0},
    {JUMP_EVEN, ROUND, 15, 0},
    {ADD, SUM, SUM, VALUE},
    {XOR, NUMBER, NUMBER, SUM},
    {ADD, ROUND, ROUND, ONE},  // 15
    {JUMP_BELOW, ROUND, END, 5},
    {HALT, SUM, 0, 0},
};

static uint64_t interpret(uint64_t* registers, uint64_t* memory)
{
    for (const Instruction* at = program;;) {
        const Instruction now = *at++;
        switch ((Operation)now.operation) {
        case HALT:
            return registers[now.a];
        case SET:
            registers[now.a] = (uint64_t)now.b * 256 + now.c;
            break;
        case ADD:
            registers[now.a] = registers[now.b] + registers[now.c];
            break;
        case MULTIPLY:
            registers[now.a] = registers[now.b] * registers[now.c];
            break;
        case XOR:
            registers[now.a] = registers[now.b] ^ registers[now.c];
            break;
        case AND:
            registers[now.a] = registers[now.b] & registers[now.c];
            break;
        case SHIFT_RIGHT:
            registers[now.a] = registers[now.b] >> now.c;
            break;
        case LOAD:
            registers[now.a] = memory[registers[now.b]];
            break;
        case STORE:
            memory[registers[now.b]] = registers[now.a];
            break;
        case JUMP_EVEN:
            if (registers[now.a] % 2 == 0)
                at = program + now.b;
            break;
        case JUMP_BELOW:
            if (registers[now.a] < registers[now.b])
                at = program + now.c;
            break;
        }
    }
}

uint64_t kernel_bytecode(uint64_t n)
{
    static uint64_t memory[CELLS];
    for (uint64_t i = 0; i < CELLS; ++i)
        memory[i] = i * i;
    uint64_t registers[REGISTERS] = {[END] = n, [MULTIPLIER] = 6364136223846793005u};
    return interpret(registers, memory);
}
