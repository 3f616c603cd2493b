// SPDX-License-Identifier: MIT
// Fusion rule SBB: two subtractions and the borrow of both. No part has a compressed form.
// Exit code: 0, 1 to 4 difference, borrow, first borrow, second borrow wrong.

#include "check.inc"

    begin_values
    reference_difference s8, s4, s5
    reference_borrow     s9, s4, s5, s8, t0
    reference_difference s10, s8, s6
    reference_borrow     s11, s8, s6, s10, t0
    or      s8, s9, s11                 // s10: difference, s8: borrow, s9 and s11: its two parts

    mv      t0, s5
    mv      t1, s4
    mv      t3, s6
    .option push
    .option norvc
sbb_uncompressed:
    sub     t0, t1, t0
    sltu    t2, t1, t0
    sub     t1, t0, t3
    sltu    t3, t0, t1
    or      t0, t3, t2
    .option pop
    check   t1, s10, 1
    check   t0, s8, 2
    check   t2, s9, 3
    check   t3, s11, 4
    end_values
