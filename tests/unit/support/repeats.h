/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file repeats.h
 * @brief How often a test with threads repeats its steps.
 *
 * Without a sanitizer, only chance shows a mistake, so there are many steps.
 * ThreadSanitizer compares what threads have done at different times, and
 * AddressSanitizer needs to see a step once. Both are slow.
 */
#ifndef APPPOOL_TESTS_UNIT_SUPPORT_REPEATS_H
#define APPPOOL_TESTS_UNIT_SUPPORT_REPEATS_H

#include <stdlib.h>

#ifdef __has_feature
#define REPEATS_CLANG __has_feature(address_sanitizer)
#else
#define REPEATS_CLANG 0
#endif

#if defined __SANITIZE_THREAD__ || defined __SANITIZE_ADDRESS__ || REPEATS_CLANG
#define REPEATS_LESS (getenv("WALKS") ? 1 : 10)
#else
#define REPEATS_LESS 1
#endif

/** @return n, or a tenth of it with a sanitizer. `tests/run long` sets WALKS,
 * and gets all of them */
static inline unsigned repeats(unsigned n)
{
    return n / REPEATS_LESS;
}

#endif
