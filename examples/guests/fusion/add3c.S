// SPDX-License-Identifier: MIT
// Fusion rule ADD3C: an addition, its carry in a new register, and the third word added to that.
// Exit code: 0, 1 and 2 sum and third word wrong, 3 and 4 likewise with a compressed last part,
// 5 and 6 likewise with a compressed first part, which moves and leaves no carry.

#include "check.inc"

    begin_values
    reference_sum   s8, s4, s5
    reference_carry s9, s4, s5, s8, t0
    reference_sum   s10, s9, s6

    .option push
    .option norvc
add3c_uncompressed:
    add     t0, s4, s5
    sltu    t1, t0, s4
    add     t1, t1, s6
    .option pop
    check   t0, s8, 1
    check   t1, s10, 2

add3c_compressed:
    add     t2, s4, s5
    sltu    t3, t2, s4
    c.add   t3, s6
    check   t2, s8, 3
    check   t3, s10, 4

add3c_move:
    c.mv    t4, s5                      // t4 = 0 + s5
    sltu    t5, t4, zero
    c.add   t5, s6
    check   t4, s5, 5
    check   t5, s6, 6
    end_values
