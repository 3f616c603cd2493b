// SPDX-License-Identifier: MIT
// Fusion rule SBBS: a difference and its borrow. No part can be compressed.
// Exit code: 0, 1 and 2 difference and borrow wrong, 3 and 4 likewise when the borrow replaces an
// operand, 5 when it replaces the difference.

#include "check.inc"

    begin_values
    reference_difference s8, s4, s5
    reference_borrow     s9, s4, s5, s8, t0

sbbs_distinct:
    sub     t0, s4, s5
    sltu    t1, s4, s5
    check   t0, s8, 1
    check   t1, s9, 2

    mv      t3, s5
sbbs_replacing:
    sub     t2, s4, t3
    sltu    t3, s4, t3
    check   t2, s8, 3
    check   t3, s9, 4

sbbs_borrow_only:
    sub     t4, s4, s5
    sltu    t4, s4, s5
    check   t4, s9, 5
    end_values
