/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file store_keys.h
 * @brief The keys and values of store_load.c. Each key has a value of its own
 *        length and content, which is not stored but computed. One thread.
 */
#ifndef APPPOOL_TESTS_BENCH_STORE_KEYS_H
#define APPPOOL_TESTS_BENCH_STORE_KEYS_H

#include <stddef.h>
#include <stdint.h>

#define KEY_FORMAT "key:%012u" /* 16 bytes */

/**
 * Call this first. It ends the program if there is no memory.
 * @param shortest,longest bytes of a value
 * @param zipf 1: the nth key is picked 1/n as often as the first
 */
void keys_make(uint32_t n, size_t shortest, size_t longest, int zipf,
               uint64_t seed);

/** Any of the keys. */
uint32_t keys_any(void);

/** Any number. */
uint64_t keys_random(void);

size_t keys_length(uint32_t key);

/** @return keys_length() bytes */
const char *keys_value(uint32_t key);

#endif
