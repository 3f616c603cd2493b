// SPDX-License-Identifier: MIT
/// @file
/// What the guests sign and hash.
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/// SHA-256 of the six bytes "sample", the message of the examples in RFC 6979.
static const uint8_t sample_digest[32] = {
    0xaf, 0x2b, 0xdb, 0xe1, 0xaa, 0x9b, 0x6e, 0xc1, 0xe2, 0xad, 0xe1, 0xd6, 0x94, 0xf4, 0x1f, 0xc7,
    0x1a, 0x83, 0x1d, 0x02, 0x68, 0xe9, 0x89, 0x15, 0x62, 0x11, 0x3d, 0x8a, 0x62, 0xad, 0xd1, 0xbf,
};

enum
{
    LONG_MESSAGE_SIZE = 65536
};

/// 64 KiB without a pattern, made in the first call: the states of a linear congruential generator
/// that starts at 1, each in 8 bytes, lowest first, which is how both hosts and guests store it.
static inline const uint8_t* long_message(void)
{
    static uint8_t message[LONG_MESSAGE_SIZE];
    if (message[0] == 0) {
        uint64_t state = 1;
        for (size_t i = 0; i < sizeof message; i += sizeof state) {
            memcpy(message + i, &state, sizeof state);
            state = state * 6364136223846793005u + 1442695040888963407u;
        }
    }
    return message;
}
