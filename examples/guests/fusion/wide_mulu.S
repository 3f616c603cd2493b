// SPDX-License-Identifier: MIT
// Fusion rule WIDE_MULU: both halves of a product, both operands unsigned.
// Exit code: 0, 1 and 2 upper and lower half wrong, 3 and 4 likewise when the lower half replaces
// an operand, 5 and 6 likewise for a square.

#include "check.inc"

    begin_values
    reference_high  s8, s4, s5
    mul     s9, s5, s4
    reference_high  s10, s4, s4
    mul     s11, s4, s4

wide_mulu_distinct:
    mulhu   t0, s4, s5
    mul     t1, s4, s5
    check   t0, s8, 1
    check   t1, s9, 2

    mv      t3, s4
wide_mulu_replacing:
    mulhu   t2, t3, s5
    mul     t3, t3, s5
    check   t2, s8, 3
    check   t3, s9, 4

wide_mulu_square:
    mulhu   t4, s4, s4
    mul     t5, s4, s4
    check   t4, s10, 5
    check   t5, s11, 6
    end_values
