// SPDX-License-Identifier: MIT
// CRC-32 of n bytes by table: a chain of dependent loads and shifts.

#include "kernels.h"

uint64_t kernel_crc32(uint64_t n)
{
    static uint32_t table[256];
    for (uint32_t byte = 0; byte < 256; ++byte) {
        uint32_t remainder = byte;
        for (int bit = 0; bit < 8; ++bit)
            remainder = remainder >> 1 ^ ((remainder & 1) != 0 ? 0xedb88320u : 0);
        table[byte] = remainder;
    }

    uint32_t crc = ~0u;
    uint32_t message = 1;
    for (uint64_t i = 0; i < n; ++i) {
        message = message * 1664525u + 1013904223u;
        crc = crc >> 8 ^ table[(crc ^ message >> 24) & 0xff];
    }
    return ~crc;
}
