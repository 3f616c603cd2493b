// SPDX-License-Identifier: MIT
// Fusion rule ADD3A: an addition in place, its carry, and the carry added to a third word.
// Exit code: 0, 1 to 3 sum, carry, third word wrong, 4 and 5 sum and third word wrong
// with a compressed last part.

#include "check.inc"

    begin_values
    reference_sum   s8, s4, s5
    reference_carry s9, s4, s5, s8, t0
    reference_sum   s10, s9, s6

    mv      t0, s4
    .option push
    .option norvc                       // c.add would exchange the operands: no such sequence
add3a_uncompressed:
    add     t0, s5, t0
    sltu    t1, t0, s5
    add     t2, t1, s6
    .option pop
    check   t0, s8, 1
    check   t1, s9, 2
    check   t2, s10, 3

    mv      t3, s4
    .option push
    .option norvc
add3a_compressed:
    add     t3, s5, t3
    .option pop
    sltu    t4, t3, s5
    c.add   t4, s6
    check   t3, s8, 4
    check   t4, s10, 5
    end_values
