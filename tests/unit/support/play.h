/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file play.h
 * @brief A play: a scene with callers and two apps, and assertions about them.
 *        Each play runs twice: with all callers in this process, and with the
 *        callers spread over four processes.
 *
 *     static void the_second_waits(void **state)
 *     {
 *         play_t *p = play_begin(state, 1);
 *         uint64_t id = play_get(p, 1, p->a); // caller 1
 *
 *         play_get_none(p, 2, p->a);
 *         play_close(p, 1);
 *         assert_true(play_has(p, 2) == id);
 *         play_end(p);
 *     }
 */
#ifndef APPPOOL_TESTS_UNIT_SUPPORT_PLAY_H
#define APPPOOL_TESTS_UNIT_SUPPORT_PLAY_H

#include "tests/unit/support/callers.h"

typedef struct {
    scene_t *s;
    callers_t *c;
    apl_app_t *a, *b;
    const char *dir; /**< where callers look for restart.txt; NULL: nowhere */
} play_t;

/** A pool of at most max processes. */
play_t *play_begin(void **state, uint32_t max);
void play_end(play_t *p);

/** The caller has a process. @return its id */
uint64_t play_has(play_t *p, int caller);
void play_waits(play_t *p, int caller);

/** Ask. The caller has to wait. */
void play_ask(play_t *p, int caller, const apl_app_t *app);

/** Ask, and let the spawner work. The caller gets a process. @return its id */
uint64_t play_get(play_t *p, int caller, const apl_app_t *app);
/** The same, but the caller has to wait. */
void play_get_none(play_t *p, int caller, const apl_app_t *app);

void play_close(play_t *p, int caller);

/** Live processes, and those with a session. */
#define play_is(p, n_live, n_busy) scene_is((p)->s, n_live, n_busy)

typedef struct {
    const char *name;
    CMUnitTestFunction run;
} play_test_t;

#define PLAY(test)                                                             \
    {                                                                          \
#test, test                                                            \
    }

/** Run them all, twice each. @return for main() */
int play_all(const play_test_t *tests, size_t n, CMFixtureFunction before,
             CMFixtureFunction after);

#endif
