/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "tests/unit/support/breaks.h"

#include <stdlib.h>
#include <string.h>

#include "shm/recovery/recovery.h"

/* Without the numbers of applications, which nothing depends on. */
static size_t size_of(const scene_t *s)
{
    return (size_t)((char *)s->pool.numbers - s->pool.base);
}

char *breaks_save(scene_t *s)
{
    char *image = malloc(size_of(s));

    scene_ok(s);
    memcpy(image, s->pool.base, size_of(s));
    return image;
}

void breaks_restore(scene_t *s, char *image)
{
    memcpy(s->pool.base, image, size_of(s));
    free(image);
}

void breaks_found(scene_t *s, int number, const char *what)
{
    apl_finding_t finding;

    if (apl_check(&s->pool, &finding) || finding.number != number)
        fail_msg("%s: found I%d %s", what, finding.number, finding.text);
}

busy_t busy_pool(void)
{
    scene_t *s = scene_new(6);
    apl_app_t *a = scene_app(s, "a"), *b = scene_app(s, "b");
    apl_session_ref_t idle, busy, shared;

    b->options.concurrency = 3;
    assert_int_equal(scene_get(s, &idle, a), APR_SUCCESS);
    assert_int_equal(scene_get(s, &busy, a), APR_SUCCESS);
    assert_int_equal(scene_get(s, &shared, b), APR_SUCCESS);
    apl_checkin(&s->pool, &idle, s->now);
    return (busy_t){s,
                    s->pool.header,
                    &s->pool.groups[1],
                    &s->pool.groups[2],
                    scene_process(s, idle.id),
                    scene_process(s, busy.id),
                    scene_process(s, shared.id),
                    &s->pool.sessions[busy.session]};
}

full_t full_pool(void)
{
    scene_t *s = scene_new(1);
    apl_app_t *x = scene_app(s, "x"), *c = scene_app(s, "c");
    apl_session_ref_t h, first, second;

    assert_int_equal(scene_get(s, &h, x), APR_SUCCESS);
    assert_int_equal(scene_ask(s, &first, c), APL_EWAIT);
    assert_int_equal(scene_ask(s, &second, c), APL_EWAIT);
    return (full_t){s,
                    s->pool.header,
                    &s->pool.groups[2],
                    &s->pool.sessions[first.session],
                    &s->pool.sessions[second.session],
                    &s->pool.sessions[h.session]};
}
