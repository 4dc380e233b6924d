/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/* The lines that children of httpd give to the spawner, for the logs of apps:
 * their order, a full ring, and what a hostile child may write. */

#include <stdio.h>
#include <string.h>

#include "shm/verbs/app_stderr.h"
#include "tests/unit/support/scene.h"

static apr_status_t put(scene_t *s, uint64_t id, const char *text)
{
    apr_status_t rv = apl_app_stderr_put(&s->pool, id, id % 2 == 1, text,
                                         strlen(text), s->now);

    scene_ok(s);
    return rv;
}

static void next_is(scene_t *s, uint64_t id, const char *text)
{
    static apl_stderr_t got;

    assert_int_equal(apl_app_stderr_take(&s->pool, &got, s->now), APR_SUCCESS);
    assert_int_equal(got.id, id);
    assert_int_equal(got.logged, id % 2 == 1);
    assert_int_equal(got.size, strlen(text));
    assert_memory_equal(got.text, text, got.size);
    scene_ok(s);
}

static void is_empty(scene_t *s)
{
    static apl_stderr_t got;

    assert_int_equal(apl_app_stderr_take(&s->pool, &got, s->now), APR_EOF);
    scene_ok(s);
}

static void lines_come_in_order(void **state)
{
    scene_t *s = scene_new(1);
    char text[APL_STDERR_TEXT + 1];

    (void)state;
    memset(text, 'x', APL_STDERR_TEXT);
    text[APL_STDERR_TEXT] = 0;
    is_empty(s);
    assert_int_equal(put(s, 7, "one\ntwo\n"), APR_SUCCESS);
    assert_int_equal(put(s, 8, text), APR_SUCCESS);
    next_is(s, 7, "one\ntwo\n");
    assert_int_equal(put(s, 9, ""), APR_SUCCESS);
    next_is(s, 8, text);
    next_is(s, 9, "");
    is_empty(s);
    scene_end(s);
}

static void a_full_ring_refuses(void **state)
{
    scene_t *s = scene_new(1);
    char text[16];
    unsigned i, round;

    (void)state;
    for (round = 0; round < 3; round++) {
        assert_int_equal(put(s, 7, "one\n"), APR_SUCCESS);
        next_is(s, 7, "one\n");
        for (i = 0; i < APL_STDERR_MAX; i++) {
            snprintf(text, sizeof text, "line %u\n", i);
            assert_int_equal(put(s, i, text), APR_SUCCESS);
        }
        assert_int_equal(put(s, i, "one more\n"), APL_EFULL);
        for (i = 0; i < APL_STDERR_MAX; i++) {
            snprintf(text, sizeof text, "line %u\n", i);
            next_is(s, i, text);
        }
    }
    is_empty(s);
    scene_end(s);
}

/* Whatever is in the header and in the ring: the spawner stays within both, and
 * the next lines come through. */
static void a_hostile_child_only_forges_lines(void **state)
{
    static const uint64_t counts[] = {0, 1, APL_STDERR_MAX, UINT64_MAX,
                                      UINT64_MAX / 2};
    const size_t n = sizeof counts / sizeof *counts;
    scene_t *s = scene_new(1);
    apl_stderr_t got;
    size_t i, taken;

    (void)state;
    for (i = 0; i < n * n; i++) {
        memset(s->pool.lines, 0xff, APL_STDERR_MAX * sizeof *s->pool.lines);
        s->pool.header->n_stderr = counts[i / n];
        s->pool.header->n_stderr_taken = counts[i % n];
        for (taken = 0;
             apl_app_stderr_take(&s->pool, &got, s->now) == APR_SUCCESS;
             taken++) {
            assert_true(taken < APL_STDERR_MAX);
            assert_int_equal(got.size, APL_STDERR_TEXT);
        }
        assert_int_equal(put(s, 7, "one\n"), APR_SUCCESS);
        next_is(s, 7, "one\n");
        is_empty(s);
    }
    scene_end(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines_come_in_order),
        cmocka_unit_test(a_full_ring_refuses),
        cmocka_unit_test(a_hostile_child_only_forges_lines),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
