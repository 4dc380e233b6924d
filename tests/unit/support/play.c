/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "tests/unit/support/play.h"

#include <stdio.h>
#include <stdlib.h>

play_t *play_begin(void **state, uint32_t max)
{
    play_t *p = calloc(1, sizeof *p);
    const int *forked = *state;

    p->s = scene_new(max);
    p->c = callers_begin(p->s, *forked);
    p->a = scene_app(p->s, "a");
    p->b = scene_app(p->s, "b");
    return p;
}

void play_end(play_t *p)
{
    callers_end(p->c);
    scene_end(p->s);
    free(p);
}

uint64_t play_has(play_t *p, int caller)
{
    assert_int_equal(callers_poll(p->c, caller), APR_SUCCESS);
    return callers_hold(p->c, caller)->id;
}

void play_waits(play_t *p, int caller)
{
    assert_int_equal(callers_poll(p->c, caller), APL_EWAIT);
}

void play_ask(play_t *p, int caller, const apl_app_t *app)
{
    assert_int_equal(callers_ask(p->c, caller, app, p->dir), APL_EWAIT);
}

static apr_status_t get(play_t *p, int caller, const apl_app_t *app)
{
    apr_status_t rv = callers_ask(p->c, caller, app, p->dir);

    while (rv == APL_EWAIT && scene_reap(p->s) + scene_spawn(p->s) > 0)
        rv = callers_poll(p->c, caller);
    return rv;
}

uint64_t play_get(play_t *p, int caller, const apl_app_t *app)
{
    assert_int_equal(get(p, caller, app), APR_SUCCESS);
    return callers_hold(p->c, caller)->id;
}

void play_get_none(play_t *p, int caller, const apl_app_t *app)
{
    assert_int_equal(get(p, caller, app), APL_EWAIT);
}

void play_close(play_t *p, int caller)
{
    callers_close(p->c, caller);
}

int play_all(const play_test_t *tests, size_t n, CMFixtureFunction before,
             CMFixtureFunction after)
{
    static int forked[] = {0, 1};
    struct CMUnitTest *all = calloc(2 * n, sizeof *all);
    size_t i;
    int failed;

    for (i = 0; i < 2 * n; i++) {
        char *name = malloc(100);

        snprintf(name, 100, "%s: %s", tests[i % n].name,
                 i < n ? "in one process" : "over four processes");
        all[i] = (struct CMUnitTest){name, tests[i % n].run, before, after,
                                     &forked[i >= n]};
    }
    failed = _cmocka_run_group_tests("plays", all, 2 * n, NULL, NULL);
    for (i = 0; i < 2 * n; i++)
        free((char *)(uintptr_t)all[i].name);
    free(all);
    return failed;
}
