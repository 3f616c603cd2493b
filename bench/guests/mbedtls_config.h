// SPDX-License-Identifier: MIT
/// @file
/// What the guests need of mbedtls: ECDSA over P-256, RSA with PKCS #1 v1.5, SHA-256.
#pragma once

#define MBEDTLS_BIGNUM_C

#define MBEDTLS_ECP_C
#define MBEDTLS_ECDSA_C
#define MBEDTLS_ECP_DP_SECP256R1_ENABLED
#define MBEDTLS_ECP_NIST_OPTIM
#define MBEDTLS_ECP_NO_INTERNAL_RNG
#define MBEDTLS_ASN1_PARSE_C
#define MBEDTLS_ASN1_WRITE_C

#define MBEDTLS_RSA_C
#define MBEDTLS_PKCS1_V15
#define MBEDTLS_MD_C
#define MBEDTLS_OID_C

#define MBEDTLS_SHA256_C

// RISC-V is none of the processors that mbedtls knows to have 64 bits, so it is told what it finds
// out by itself on x86-64: limbs of 64 bits and products of 128.
#ifdef __riscv
#define MBEDTLS_HAVE_INT64
#define MBEDTLS_HAVE_UDBL
typedef unsigned __int128 mbedtls_t_udbl;
#endif

#include "mbedtls/check_config.h"
