// SPDX-License-Identifier: MIT
// For RISC-V: what the C library expects of a system beyond the calls of the runtime. There are no
// signals and no files, only a console.

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

// With the status that a shell shows for SIGABRT.
void abort(void)
{
    _exit(134);
}

static int put_character(char character, FILE* stream)
{
    (void)stream;
    return write(STDOUT_FILENO, &character, 1) == 1 ? (unsigned char)character : EOF;
}

static int get_character(FILE* stream)
{
    (void)stream;
    unsigned char character;
    return read(STDIN_FILENO, &character, 1) == 1 ? character : EOF;
}

static FILE console = FDEV_SETUP_STREAM(put_character, get_character, NULL, _FDEV_SETUP_RW);
FILE* const stdin = &console;
FILE* const stdout = &console;
FILE* const stderr = &console;

int open(const char* path, int flags, ...)
{
    (void)path;
    (void)flags;
    errno = ENOENT;
    return -1;
}

int close(int descriptor)
{
    (void)descriptor;
    errno = EBADF;
    return -1;
}

off_t lseek(int descriptor, off_t offset, int origin)
{
    (void)descriptor;
    (void)offset;
    (void)origin;
    errno = ESPIPE;
    return -1;
}
