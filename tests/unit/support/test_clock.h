/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file test_clock.h
 * @brief The clocks of a test whose machine may stop it at any moment, for
 *        seconds. A program that has this file is linked with
 *        --wrap=clock_gettime.
 *
 * CLOCK_REALTIME_COARSE and CLOCK_MONOTONIC_COARSE, which the items of a store
 * have, stand still. CLOCK_MONOTONIC may be slowed down. time() and the limits
 * of poll() are those of the host.
 */
#ifndef APPPOOL_TESTS_UNIT_SUPPORT_TEST_CLOCK_H
#define APPPOOL_TESTS_UNIT_SUPPORT_TEST_CLOCK_H

#include <stdint.h>

/** From now on CLOCK_MONOTONIC goes on by 1 s in so many seconds. Called before
 * there are threads. */
void test_clock_slow(int seconds);

/** CLOCK_MONOTONIC is later by this. */
void test_clock_later(int64_t ms);

/** The coarse clocks stand at these ms: CLOCK_REALTIME_COARSE and
 * CLOCK_MONOTONIC_COARSE. */
void test_clock_stand(int64_t host, int64_t monotonic);

#endif
