// SPDX-License-Identifier: MIT
// The n-th Fibonacci number by recursion: calls, returns and the stack.

#include "kernels.h"

uint64_t kernel_fibonacci(uint64_t n)
{
    return n < 2 ? n : kernel_fibonacci(n - 1) + kernel_fibonacci(n - 2);
}
