// SPDX-License-Identifier: MIT
// An ordinary C program with a C library (picolibc): printf, malloc and fgets.
// Prints its arguments, then the lines of stdin in reverse order.

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// What the library leaves to the program: where characters go to and come from.
static int put_character(char character, FILE* stream)
{
    (void)stream;
    return write(1, &character, 1) == 1 ? (unsigned char)character : EOF;
}

static int get_character(FILE* stream)
{
    (void)stream;
    unsigned char character;
    return read(0, &character, 1) == 1 ? character : EOF;
}

static FILE console = FDEV_SETUP_STREAM(put_character, get_character, NULL, _FDEV_SETUP_RW);
FILE* const stdin = &console;
FILE* const stdout = &console;

typedef struct line
{
    struct line* previous;
    char text[];
} line;

int main(int argc, char** argv)
{
    printf("Hello from %s: %d argument%s\n", "picolibc", argc - 1, argc == 2 ? "" : "s");
    for (int i = 1; i < argc; ++i)
        printf("%3d: \"%s\"\n", i, argv[i]);
    errno = 0;
    printf("2/3 = %.6f, strtoul: %#lx, errno %s\n", (argc + 1) / (1.5 * (argc + 1)),
           strtoul("ffffffffffffffffff", NULL, 16), errno == ERANGE ? "ERANGE" : "wrong");

    line* last = NULL;
    int count = 0;
    char buffer[256];
    while (fgets(buffer, sizeof buffer, stdin) != NULL) {
        buffer[strcspn(buffer, "\n")] = '\0';
        line* const next = malloc(sizeof *next + strlen(buffer) + 1);
        if (next == NULL)
            return 1;
        next->previous = last;
        strcpy(next->text, buffer);
        last = next;
        ++count;
    }
    for (; last != NULL; --count) {
        printf("%3d: %s\n", count, last->text);
        line* const previous = last->previous;
        free(last);
        last = previous;
    }
    return 0;
}
