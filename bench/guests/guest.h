// SPDX-License-Identifier: MIT
/// @file
/// What each guest has for the main program: work whose result is known.
#pragma once

#include <stdbool.h>
#include <stdint.h>

/// The signature that is verified, or the result that the work must have. With any bit of its first
/// byte changed, check() answers false.
extern uint8_t known_answer[];

/// Does the work once, from the same state every time; whether it came out as known_answer says.
bool check(void);
