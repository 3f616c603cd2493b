// SPDX-License-Identifier: MIT
// Fusion rule for lui and addiw: 32-bit constants, also such that leave the signed 32-bit range
// before they are cut, in uncompressed and compressed form.
// Exit code: 0, otherwise the number of the constant that is wrong.

#include "check.inc"

    .macro  constant number, upper, lower
load_const_lui_\number:
    lui     t0, \upper
    addiw   t0, t0, \lower
    ld      t1, 8 * (\number - 1)(s0)
    check   t0, t1, \number
    .endm

    .text
    begin_rounds
    address s0, constants
    .option push
    .option norvc
    constant 1, 0x12345, 0x678
    constant 2, 0x12346, -0x234
    constant 3, 0x7ffff, 0x7ff
    constant 4, 0x80000, -1
    constant 5, 0x80000, 0x7ff
    constant 6, 0xfffff, -0x800
    constant 7, 0, 1
    .option pop

load_const_lui_compressed:
    c.lui   t0, 0xfffe1
    c.addiw t0, -31
    ld      t1, 56(s0)
    check   t0, t1, 8

load_const_lui_zero:
    lui     zero, 0x12345               // both without effect
    addiw   zero, zero, 1
    end_rounds

    .section .rodata
    .balign 8
constants:
    .dword  0x12345678, 0x12345dcc, 0x7ffff7ff, 0x7fffffff
    .dword  0xffffffff800007ff, 0xffffffffffffe800, 1, 0xfffffffffffe0fe1
