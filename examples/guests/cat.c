// SPDX-License-Identifier: MIT
// Copies stdin to stdout, or prints its arguments on one line when there are any.

#include "runtime/syscalls.h"
#include "runtime/text.h"

static int echo(int count, char** words)
{
    for (int i = 0; i < count; ++i) {
        if (i > 0 && !print(" "))
            return 1;
        if (!print(words[i]))
            return 1;
    }
    return print("\n") ? 0 : 1;
}

static int copy(void)
{
    enum
    {
        SIZE = 64 * 1024
    };
    char* const buffer = allocate(SIZE);
    if (buffer == NULL)
        return 1;
    for (;;) {
        const long size = read(0, buffer, SIZE);
        if (size <= 0)
            return size == 0 ? 0 : 1;
        if (!write_all(1, buffer, (size_t)size))
            return 1;
    }
}

int main(int argc, char** argv)
{
    return argc > 1 ? echo(argc - 1, argv + 1) : copy();
}
