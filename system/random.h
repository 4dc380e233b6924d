/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file random.h
 * @brief Random numbers for ids. No other program can guess them. libc only.
 */
#ifndef APPPOOL_SYSTEM_RANDOM_H
#define APPPOOL_SYSTEM_RANDOM_H

#include <stdint.h>

/** 64 random bits. */
uint64_t random_id(void);

#endif
