// SPDX-License-Identifier: MIT
// Fusion rule for auipc and addi: addresses relative to the program counter, in uncompressed and
// compressed form.
// Exit code: 0, otherwise the number of the address that is wrong.

#include "check.inc"

    .macro  relative number, upper, lower
load_const_auipc_\number:
    auipc   t0, \upper
    addi    t0, t0, \lower
    ld      t1, 8 * (\number - 1)(s0)
    check   t0, t1, \number
    .endm

    begin_rounds
    address s0, addresses
    .option push
    .option norvc
    relative 1, 0, 0x7ff
    relative 2, 0x12345, -0x800
    relative 3, 0x7ff00, 0x7ff
    relative 4, 0x80000, 0x7ff
    relative 5, 0xfffff, -0x800
load_const_auipc_6:
    auipc   t0, %pcrel_hi(addresses)
    addi    t0, t0, %pcrel_lo(load_const_auipc_6)
    check   t0, s0, 6
    .option pop

load_const_auipc_compressed:
    auipc   t0, 1
    c.addi  t0, -32
    ld      t1, 40(s0)
    check   t0, t1, 7

load_const_auipc_zero:
    auipc   zero, 1                     // both without effect
    addi    zero, zero, 1
    end_rounds

    .section .rodata
    .balign 8
addresses:
    .dword  load_const_auipc_1 + 0x7ff
    .dword  load_const_auipc_2 + 0x12345000 - 0x800
    .dword  load_const_auipc_3 + 0x7ff007ff
    .dword  load_const_auipc_4 - 0x80000000 + 0x7ff
    .dword  load_const_auipc_5 - 0x1000 - 0x800
    .dword  load_const_auipc_compressed + 0x1000 - 32
