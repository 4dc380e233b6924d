/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "tests/unit/support/early.h"

uint64_t early_start(scene_t *s, const apl_app_t *a, apl_session_ref_t *h)
{
    assert_int_equal(scene_get(s, h, a), APR_SUCCESS);
    return h->id;
}

void early_gone(scene_t *s, uint64_t id)
{
    assert_int_equal(apl_supervise_gone(&s->pool, id, s->now), APR_SUCCESS);
}

void early_refuses(scene_t *s, apl_session_ref_t *h)
{
    uint64_t id = h->id;

    scene_refused(s, h);
    early_gone(s, id);
}

void early_end(scene_t *s, const apl_app_t *a)
{
    apl_session_ref_t h;

    early_start(s, a, &h);
    early_refuses(s, &h);
    s->now += 1000;
}

void early_fails(scene_t *s, const apl_app_t *a, uint32_t young,
                 uint32_t failures)
{
    assert_int_equal(scene_group(s, a)->young, young);
    assert_int_equal(scene_group(s, a)->failures, failures);
}
