// SPDX-License-Identifier: MIT
// Fusion rule ADCS: a sum and its carry, in uncompressed and compressed form.
// Exit code: 0, 1 and 2 sum and carry wrong, 3 and 4 likewise for the commuted compressed form,
// 5 and 6 likewise when the carry replaces an operand, 7 when it replaces the sum.

#include "check.inc"

    begin_values
    reference_sum   s8, s4, s5
    reference_carry s9, s4, s5, s8, t0

adcs_distinct:
    add     t0, s4, s5
    sltu    t1, t0, s4
    check   t0, s8, 1
    check   t1, s9, 2

    mv      t2, s4
adcs_compressed:
    c.add   t2, s5                      // t2 = t2 + s5, compared with s5
    sltu    t3, t2, s5
    check   t2, s8, 3
    check   t3, s9, 4

    mv      t5, s4
adcs_replacing:
    add     t4, t5, s5
    sltu    t5, t4, t5
    check   t4, s8, 5
    check   t5, s9, 6

adcs_carry_only:
    add     t6, s4, s5
    sltu    t6, t6, s4
    check   t6, s9, 7
    end_values
