// SPDX-License-Identifier: MIT
// Fusion rule ADC: two additions and the carry of both, in uncompressed and compressed form.
// Exit code: 0, 1 to 3 uncompressed sum, carry, last carry wrong, 4 to 6 compressed likewise.

#include "check.inc"

    begin_values
    reference_sum   s8, s4, s5
    reference_carry s9, s4, s5, s8, t0
    reference_sum   s10, s8, s6
    reference_carry s11, s8, s6, s10, t0
    or      s9, s9, s11                 // s10: sum, s9: carry, s11: carry of the second addition

    mv      t0, s4
    mv      t1, s5
    mv      t2, s6
    .option push
    .option norvc
adc_uncompressed:
    add     t0, t0, t1
    sltu    t1, t0, t1
    add     t0, t0, t2
    sltu    t2, t0, t2
    or      t1, t1, t2
    .option pop
    check   t0, s10, 1
    check   t1, s9, 2
    check   t2, s11, 3

    mv      a0, s4
    mv      a1, s5
    mv      a2, s6
adc_compressed:
    c.add   a0, a1
    sltu    a1, a0, a1
    c.add   a0, a2
    sltu    a2, a0, a2
    c.or    a1, a2
    check   a0, s10, 4
    check   a1, s9, 5
    check   a2, s11, 6
    end_values
