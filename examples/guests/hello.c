// SPDX-License-Identifier: MIT
// Prints one line.

#include "runtime/text.h"

int main(void)
{
    return print("Hello from RISC-V!\n") ? 0 : 1;
}
