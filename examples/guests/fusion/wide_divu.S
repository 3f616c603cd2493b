// SPDX-License-Identifier: MIT
// Fusion rule WIDE_DIVU: unsigned quotient and remainder.
// Exit code: 0, 1 and 2 quotient and remainder wrong for divisor 0, 3 quotient * divisor +
// remainder wrong, 4 remainder too large, 5 quotient too large, 6 and 7 quotient and remainder
// differ from those of the single instructions, 8 and 9 likewise when the remainder replaces an
// operand.

#include "check.inc"

    begin_values
    remu    s9, s4, s5                  // remu before divu does not fuse
    divu    s8, s4, s5

wide_divu_distinct:
    divu    t0, s4, s5
    remu    t1, s4, s5
    check   t0, s8, 6
    check   t1, s9, 7
    bnez    s5, .Lnot_zero
    li      t2, -1
    check   t0, t2, 1
    check   t1, s4, 2
    j       .Lreplacing

.Lnot_zero:
    mul     t2, t0, s5
    add     t2, t2, t1
    check   t2, s4, 3
    mulhu   t2, t0, s5                  // quotient * divisor fits one word
    check   t2, zero, 5
    bltu    t1, s5, .Lreplacing
    li      a0, 4
    j       finish

.Lreplacing:
    mv      t6, s5
wide_divu_replacing:
    divu    t5, s4, t6
    remu    t6, s4, t6
    check   t5, s8, 8
    check   t6, s9, 9
    end_values
