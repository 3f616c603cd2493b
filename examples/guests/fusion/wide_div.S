// SPDX-License-Identifier: MIT
// Fusion rule WIDE_DIV: signed quotient and remainder.
// Exit code: 0, 1 and 2 quotient and remainder wrong for divisor 0, 3 quotient * divisor +
// remainder wrong, 4 remainder too large, 5 remainder of the wrong sign, 6 and 7 quotient and
// remainder differ from those of the single instructions, 8 and 9 likewise when the remainder
// replaces an operand.

#include "check.inc"

    begin_values
    rem     s9, s4, s5                  // rem before div does not fuse
    div     s8, s4, s5

wide_div_distinct:
    div     t0, s4, s5
    rem     t1, s4, s5
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
    beqz    t1, .Lreplacing
    xor     t2, t1, s4
    srli    t2, t2, 63
    check   t2, zero, 5
    srai    t2, t1, 63                  // magnitudes: (x ^ sign) - sign
    xor     t3, t1, t2
    sub     t3, t3, t2
    srai    t2, s5, 63
    xor     t4, s5, t2
    sub     t4, t4, t2
    bltu    t3, t4, .Lreplacing
    li      a0, 4
    j       finish

.Lreplacing:
    mv      t6, s5
wide_div_replacing:
    div     t5, s4, t6
    rem     t6, s4, t6
    check   t5, s8, 8
    check   t6, s9, 9
    end_values
