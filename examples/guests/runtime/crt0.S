// SPDX-License-Identifier: MIT
// Program start: takes argc and argv from the stack, calls main, exits with its result.

    .section .text.start, "ax"
    .globl  _start
    .type   _start, @function
_start:
    .option push
    .option norelax                     // relaxed code relies on what these two set up
    lla     gp, __global_pointer$
    lla     tp, __tls_start
    .option pop
    lw      a0, 0(sp)                   // argc
    addi    a1, sp, 8                   // argv
    andi    sp, sp, -16                 // VM version 0 may start with sp at an odd multiple of 8
    call    main
    tail    _exit
    .size   _start, . - _start
