// SPDX-License-Identifier: MIT
// Fusion rule ADD3B: an addition, its carry in place of an operand, and the carry added to a third
// word. Exit code: 0, 1 to 3 sum, carry, third word wrong, 4 and 5 sum and third word wrong with a
// compressed last part.

#include "check.inc"

    begin_values
    reference_sum   s8, s4, s5
    reference_carry s9, s4, s5, s8, t0
    reference_sum   s10, s9, s6

    mv      t1, s4
add3b_uncompressed:
    add     t0, t1, s5
    sltu    t1, t0, t1
    add     t2, t1, s6
    check   t0, s8, 1
    check   t1, s9, 2
    check   t2, s10, 3

    mv      t4, s4
add3b_compressed:
    add     t3, t4, s5
    sltu    t4, t3, t4
    c.add   t4, s6
    check   t3, s8, 4
    check   t4, s10, 5
    end_values
