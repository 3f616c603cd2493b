// SPDX-License-Identifier: MIT
// Small functions for strings and for printing, and the two functions that gcc itself calls.

#include "text.h"

#include "syscalls.h"

void* memcpy(void* restrict target, const void* restrict source, size_t size)
{
    char* to = target;
    const char* from = source;
    for (size_t i = 0; i < size; ++i)
        to[i] = from[i];
    return target;
}

void* memset(void* target, int value, size_t size)
{
    char* to = target;
    for (size_t i = 0; i < size; ++i)
        to[i] = (char)value;
    return target;
}

size_t text_length(const char* text)
{
    size_t length = 0;
    while (text[length] != '\0')
        ++length;
    return length;
}

bool text_equal(const char* left, const char* right)
{
    while (*left != '\0' && *left == *right) {
        ++left;
        ++right;
    }
    return *left == *right;
}

bool parse_number(const char* text, uint64_t limit, uint64_t* number)
{
    if (*text == '\0')
        return false;
    uint64_t value = 0;
    for (; *text != '\0'; ++text) {
        const unsigned digit = (unsigned)(*text - '0');
        if (digit > 9 || value > limit / 10 || value * 10 > limit - digit)
            return false;
        value = value * 10 + digit;
    }
    *number = value;
    return true;
}

bool write_all(int descriptor, const void* data, size_t size)
{
    const char* next = data;
    while (size > 0) {
        const long written = write(descriptor, next, size);
        if (written <= 0)
            return false;
        next += written;
        size -= (size_t)written;
    }
    return true;
}

bool print(const char* text)
{
    return write_all(1, text, text_length(text));
}

bool print_number(uint64_t number)
{
    char digits[20];
    size_t start = sizeof digits;
    do {
        digits[--start] = (char)('0' + number % 10);
        number /= 10;
    } while (number != 0);
    return write_all(1, digits + start, sizeof digits - start);
}

bool print_hex(const void* bytes, size_t size)
{
    const unsigned char* from = bytes;
    for (size_t i = 0; i < size; ++i) {
        const char pair[2] = {"0123456789abcdef"[from[i] >> 4], "0123456789abcdef"[from[i] & 15]};
        if (!write_all(1, pair, sizeof pair))
            return false;
    }
    return true;
}
