/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file play.h
 * @brief All verbs of the pool, in an order that the input decides, on a
 *        segment that another process may write to, too.
 */
#ifndef APPPOOL_TESTS_FUZZ_PLAY_H
#define APPPOOL_TESTS_FUZZ_PLAY_H

#include "shm/verbs/checkin.h"
#include "shm/verbs/checkout.h"
#include "shm/verbs/child.h"
#include "shm/verbs/configure.h"
#include "shm/verbs/housekeeping.h"
#include "shm/verbs/admin.h"
#include "shm/verbs/reconcile.h"
#include "shm/verbs/supervise.h"
#include "tests/fuzz/dice.h"

#define PLAY_HOLDS 8
#define PLAY_APPS  4
#define PLAY_IDS   8

typedef struct {
    apl_pool_t pool;
    int64_t now;
    apl_app_t apps[PLAY_APPS];
    apl_session_ref_t holds[PLAY_HOLDS];
    uint64_t ids[PLAY_IDS]; /* of processes that were started last */
    unsigned n_ids;
    int hostile; /* there were wrong values, and no repair since */
} play_t;

/** A pool without processes; two children; the same memory each time. */
play_t *play_begin(void);

/** Do verbs until the bytes are used up. @param hostile 1: and write wrong
 * values */
void play(play_t *p, dice_t *d, int hostile);

/** Enter as after a dead owner. Then all invariants must hold. */
void play_repair(play_t *p);

/** One verb. */
void verbs_do(play_t *p, dice_t *d);

/** Print a line if TRACE is set in the environment. */
void play_say(const char *format, ...) __attribute__((format(printf, 1, 2)));

/** A snapshot, checked and reported as JSON. */
void play_look(play_t *p);

#endif
