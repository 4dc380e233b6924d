/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/* Why a request waits in vain. */

#include "shm/verbs/wait_facts.h"

#include <unistd.h>

#include "shm/verbs/enter.h"
#include "tests/unit/support/slow.h"

static void says(const apl_wait_facts_t *facts, const char *wanted)
{
    sentence_t s = {.n = 0};

    apl_wait_facts_say(&s, facts, "");
    assert_string_equal(s.text, wanted);
}

static void nothing_is_known_of_an_app_without_a_request(void **state)
{
    scene_t *s = scene_new(2);
    apl_wait_facts_t f = {.processes = 7};

    (void)state;
    assert_int_equal(
        apl_wait_facts_read(&s->pool, scene_app(s, "a"), &f, s->now), 0);
    assert_int_equal(f.processes, 0);
    scene_end(s);
}

static void what_the_processes_do(void **state)
{
    scene_t *s = scene_new(4);
    apl_app_t *a = slow_app(s, "a", 2, 0), *b = scene_app(s, "b");
    apl_session_ref_t h[2], w[3], other[3];
    apl_wait_facts_t f;

    (void)state;
    /* One request took 10 s. */
    scene_busy(s, a, h, 1);
    s->now += 10 * SECOND;
    scene_close(s, h);
    scene_busy(s, a, h, 1);
    s->now += 20 * SECOND;
    scene_busy(s, a, h + 1, 1);
    scene_waiting(s, a, w, 3);
    s->now += 5 * SECOND;
    assert_int_equal(apl_wait_facts_read(&s->pool, a, &f, s->now), 1);
    assert_int_equal(f.processes, 2);
    assert_int_equal(f.hung, 0);
    assert_int_equal(f.starting, 0);
    assert_int_equal(f.waiting, 3);
    assert_int_equal(f.busy, 5 * SECOND); /* the second one since then */
    assert_int_equal(f.clears, 15 * SECOND);
    assert_int_equal(f.app_max, 2);
    assert_int_equal(f.pool_max, 0);
    says(&f, "all 2 processes have been busy for 5 s (MaxInstances 2)");
    slow_look(s, 10 * SECOND);
    scene_busy(s, b, other, 2);
    assert_int_equal(scene_ask(s, &other[2], b), APL_EWAIT);
    apl_wait_facts_read(&s->pool, a, &f, s->now);
    assert_int_equal(f.hung, 1);
    assert_int_equal(f.clears, 30 * SECOND); /* one is left */
    assert_int_equal(f.pool_max, 4);
    says(&f, "all 2 processes have been busy for 15 s, 1 of them hung "
             "(MaxInstances 2)");
    apl_wait_facts_read(&s->pool, b, &f, s->now);
    assert_int_equal(f.app_max, 0); /* it has no limit of its own */
    says(&f, "all 2 processes are busy, and the pool is full (MaxPoolSize 4)");
    assert_int_equal(f.waiting, 1);
    scene_end(s);
}

static void it_has_no_process_yet(void **state)
{
    scene_t *s = scene_new(2);
    apl_app_t *a = scene_app(s, "a");
    apl_session_ref_t w;
    apl_wait_facts_t f;

    (void)state;
    assert_int_equal(scene_ask(s, &w, a), APL_EWAIT);
    assert_int_equal(apl_wait_facts_read(&s->pool, a, &f, s->now), 1);
    assert_int_equal(f.processes, 0);
    assert_int_equal(f.starting, 1);
    says(&f, "a process is being started");
    assert_int_equal(f.busy, 0);
    assert_int_equal(f.clears, 0);
    scene_end(s);
}

/* However many requests are refused, and whoever has the lock. */
static void it_needs_no_lock(void **state)
{
    scene_t *s = scene_new(2);
    apl_app_t *a = scene_app(s, "a");
    apl_session_ref_t busy;
    apl_lock_token_t token;
    apl_wait_facts_t f;

    (void)state;
    scene_busy(s, a, &busy, 1);
    assert_int_equal(apl_enter(&token, &s->pool, s->now, APL_FOREVER),
                     APR_SUCCESS);
    alarm(10);
    assert_int_equal(apl_wait_facts_read(&s->pool, a, &f, s->now), 1);
    alarm(0);
    apl_leave(&token);
    assert_int_equal(f.processes, 1);
    scene_end(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_is_known_of_an_app_without_a_request),
        cmocka_unit_test(what_the_processes_do),
        cmocka_unit_test(it_has_no_process_yet),
        cmocka_unit_test(it_needs_no_lock),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
