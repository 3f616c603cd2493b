// SPDX-License-Identifier: MIT
// Fusion rule FAR_JUMP_ABS: calls to an absolute address, forward, backward, with an odd address
// (its lowest bit is ignored) and with both parts compressed.
// Exit code: 0, 1 to 4 wrong return address (in that order), 5 wrong sum over all calls.

#include "check.inc"

    .text
count_before:
    mv      s5, ra
    addi    s4, s4, 1
    ret

    begin_rounds
    .option push
    .option norvc
far_jump_abs_forward:
    lui     ra, %hi(count_further)
    jalr    ra, %lo(count_further)(ra)
return_1:
    .option pop
    address t0, return_1
    check   s5, t0, 1

far_jump_abs_backward:
    lui     ra, %hi(count_before)
    jalr    ra, %lo(count_before)(ra)
return_2:
    address t0, return_2
    check   s5, t0, 2

far_jump_abs_odd:
    lui     ra, %hi(count_after)
    jalr    ra, %lo(count_after + 1)(ra)
return_3:
    address t0, return_3
    check   s5, t0, 3

far_jump_abs_compressed:
    c.lui   ra, 0x11                    // the address of count_after, see runtime/guest.ld
    c.jalr  ra
return_4:
    address t0, return_4
    check   s5, t0, 4
    end_rounds 900

    .org    0x1000                      // address 0x11000, the text begins at 0x10000
count_after:
    mv      s5, ra
    addi    s4, s4, 2
    ret

    .org    0x1900                      // the lower part of this address is negative
count_further:
    mv      s5, ra
    addi    s4, s4, 4
    ret

    .section .rodata
    .asciz  "far_jump_abs"              // so that this segment is not empty either
