/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file sleeps.h
 * @brief Was a sleeper woken, or did its slice end?
 *
 * A sleeper that is not woken looks again when its slice ends, a second later.
 * So a lost wake-up only shows as time that passes. The result of the system
 * call shows it at once: a program that uses this file has a syscall() of its
 * own, which notes how each sleep on the session of this thread ended.
 *
 *     sleeps_on(session);
 *     rv = apl_checkout_wait(...);
 *     missed = sleeps_missed();
 *     if (sleeps_lost(missed, woken_at)) // the wake-up was done at this time
 */
#ifndef APPPOOL_TESTS_UNIT_SUPPORT_SLEEPS_H
#define APPPOOL_TESTS_UNIT_SUPPORT_SLEEPS_H

#include "shm/format/format.h"

/** This thread is going to wait for this session. */
void sleeps_on(const apl_session_t *session);

/**
 * The beginning of a sleep that ended with its slice, although the session did
 * not wait any more; us. 0: there was none.
 */
int64_t sleeps_missed(void);

/** Was the wake-up lost? That is so if a sleep since `from` ended with its
 * slice, although the wake-up was done at `woken_at`. */
int sleeps_lost(int64_t from, int64_t woken_at);

#endif
