// SPDX-License-Identifier: MIT
// What libsecp256k1 leaves to the program: what happens when it is used wrongly or finds itself
// damaged.

#include <stdlib.h>

void secp256k1_default_illegal_callback_fn(const char* message, void* data);
void secp256k1_default_error_callback_fn(const char* message, void* data);

void secp256k1_default_illegal_callback_fn(const char* message, void* data)
{
    (void)message;
    (void)data;
    abort();
}

void secp256k1_default_error_callback_fn(const char* message, void* data)
{
    (void)message;
    (void)data;
    abort();
}
