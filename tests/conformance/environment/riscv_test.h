/* SPDX-License-Identifier: MIT */
/* The environment that programs of the public suite riscv-tests expect, for a machine without traps
   or privileged state: a program begins at _start and ends with exit, 0 for success, else with the
   number of the case that failed. */
/* What these are expanded to is assembly. */
/* clang-format off */
#ifndef MOPVM_RISCV_TEST_H
#define MOPVM_RISCV_TEST_H

#define TESTNUM gp
#define RVTEST_RV64U
#define RVTEST_CODE_BEGIN .text; .globl _start; _start: li TESTNUM, 0;
#define RVTEST_CODE_END
#define RVTEST_PASS li a0, 0; li a7, 93; ecall
#define RVTEST_FAIL mv a0, TESTNUM; li a7, 93; ecall
#define EXTRA_DATA
#define RVTEST_DATA_BEGIN .data; .balign 16;
#define RVTEST_DATA_END

#endif
