/* SPDX-License-Identifier: MIT */
/* The environment that programs of the public suite riscv-arch-test expect: they leave a signature
   in memory, which is written to standard output at the end, to be compared with that of another
   machine. */
/* What these are expanded to is assembly. */
/* clang-format off */
#ifndef MOPVM_MODEL_TEST_H
#define MOPVM_MODEL_TEST_H

#define RVMODEL_BOOT
#define RVMODEL_HALT          \
    li a0, 1;                 \
    la a1, begin_signature;   \
    la a2, end_signature;     \
    sub a2, a2, a1;           \
    li a7, 64;                \
    ecall;                    \
    li a0, 0;                 \
    li a7, 93;                \
    ecall
#define RVMODEL_DATA_BEGIN .balign 16; .globl begin_signature; begin_signature:
#define RVMODEL_DATA_END .balign 16; .globl end_signature; end_signature:
#define RVMODEL_IO_INIT
#define RVMODEL_IO_WRITE_STR(register, text)
#define RVMODEL_IO_CHECK()
#define RVMODEL_IO_ASSERT_GPR_EQ(scratch, register, value)
#define RVMODEL_SET_MSW_INT
#define RVMODEL_CLEAR_MSW_INT
#define RVMODEL_CLEAR_MTIMER_INT
#define RVMODEL_CLEAR_MEXT_INT

#endif
