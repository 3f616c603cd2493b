// SPDX-License-Identifier: MIT
// Runs on the host while a SPHINCS+ guest is built: prints known_answer.h, a public key and its
// signature of the digest in messages.h, the same in every run.

#include "messages.h"

#include <api.h>
#include <randombytes.h>
#include <stdio.h>

// No chance at all: 0, 1, 2 and so on.
int PQCLEAN_randombytes(uint8_t* output, size_t size)
{
    for (size_t i = 0; i < size; ++i)
        output[i] = (uint8_t)i;
    return 0;
}

static void print_array(const char* declaration, const uint8_t* bytes, size_t size)
{
    printf("%s[%zu] = {", declaration, size);
    for (size_t i = 0; i < size; ++i)
        printf("%s0x%02x,", i % 16 == 0 ? "\n    " : " ", bytes[i]);
    printf("\n};\n");
}

int main(void)
{
    static uint8_t public_key[SPHINCS(CRYPTO_PUBLICKEYBYTES)];
    static uint8_t secret_key[SPHINCS(CRYPTO_SECRETKEYBYTES)];
    static uint8_t signature[SPHINCS(CRYPTO_BYTES)];
    size_t size;
    if (SPHINCS(crypto_sign_keypair)(public_key, secret_key) != 0 ||
        SPHINCS(crypto_sign_signature)(signature, &size, sample_digest, sizeof sample_digest,
                                       secret_key) != 0 ||
        size != sizeof signature)
        return 1;

    printf("#include <stdint.h>\n");
    print_array("static const uint8_t public_key", public_key, sizeof public_key);
    print_array("uint8_t known_answer", signature, sizeof signature);
    return 0;
}
