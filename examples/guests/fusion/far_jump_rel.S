// SPDX-License-Identifier: MIT
// Fusion rule FAR_JUMP_REL: calls relative to the program counter, forward, backward, with an odd
// distance (its lowest bit is ignored) and with a compressed jalr.
// Exit code: 0, 1 to 4 wrong return address (in that order), 5 wrong sum over all calls.

#include "check.inc"

    .text
count_before:
    mv      s5, ra
    addi    s4, s4, 1
    ret

    begin_rounds
far_jump_rel_forward:
    auipc   ra, %pcrel_hi(count_after)
    jalr    ra, %pcrel_lo(far_jump_rel_forward)(ra)
return_1:
    address t0, return_1
    check   s5, t0, 1

far_jump_rel_backward:
    auipc   ra, %pcrel_hi(count_before)
    jalr    ra, %pcrel_lo(far_jump_rel_backward)(ra)
return_2:
    address t0, return_2
    check   s5, t0, 2

far_jump_rel_odd:
    auipc   ra, %pcrel_hi(count_before + 1)
    jalr    ra, %pcrel_lo(far_jump_rel_odd)(ra)
return_3:
    address t0, return_3
    check   s5, t0, 3

far_jump_rel_compressed:
    auipc   ra, 1
    c.jalr  ra
return_4:
    address t0, return_4
    check   s5, t0, 4
    end_rounds 600

// Where the compressed call goes: exactly one page after it.
    .org    far_jump_rel_compressed - count_before + 0x1000
count_after:
    mv      s5, ra
    addi    s4, s4, 2
    ret

    .section .rodata
    .asciz  "far_jump_rel"              // so that this segment is not empty either
