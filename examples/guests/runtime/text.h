// SPDX-License-Identifier: MIT
// Small functions for strings and for printing.

#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

size_t text_length(const char* text);
bool text_equal(const char* left, const char* right);

// Reads a decimal number; false when the text is anything else or the number exceeds the limit.
bool parse_number(const char* text, uint64_t limit, uint64_t* number);

// These return false when not everything could be written.
bool write_all(int descriptor, const void* data, size_t size);
bool print(const char* text);
bool print_number(uint64_t number);
bool print_hex(const void* bytes, size_t size);
