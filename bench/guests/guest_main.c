// SPDX-License-Identifier: MIT
// The main program of every guest. Usage: GUEST [REPEATS [altered]]; `altered` changes one bit of
// the known answer. Exits with 0 when each of the checks passed, with 1 when one failed, with 2
// when the arguments make no sense.

#include "guest.h"

#include <stdlib.h>
#include <string.h>

int main(int argc, char** argv)
{
    unsigned long repeats = 1;
    if (argc > 1) {
        char* end;
        repeats = strtoul(argv[1], &end, 10);
        if (*end != '\0' || repeats == 0)
            return 2;
    }
    if (argc > 2) {
        if (argc > 3 || strcmp(argv[2], "altered") != 0)
            return 2;
        known_answer[0] ^= 1;
    }

    while (repeats-- != 0) {
        if (!check())
            return 1;
    }
    return 0;
}
