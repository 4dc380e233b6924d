/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/* A hostile child of httpd writes to the segment, also while verbs of the
 * spawner run. The verbs end and stay in bounds, and the pool works again. */

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "shm/verbs/enter.h"
#include "shm/slots/group.h"
#include "shm/format/list.h"
#include "shm/lock/lock.h"
#include "tests/unit/support/scene.h"

#define SECONDS(n) ((n)*1000000ll)

/* ---- writes during a verb ---- */

/* A process that stores two values in turns, until it is ended. */
typedef struct {
    uint32_t *word, values[2];
    int stop;
    pthread_t thread;
} flipper_t;

static void *flip(void *ctx)
{
    flipper_t *f = ctx;
    unsigned i;

    for (i = 0; !__atomic_load_n(&f->stop, __ATOMIC_RELAXED); i++)
        __atomic_store_n(f->word, f->values[i % 2], __ATOMIC_RELAXED);
    return NULL;
}

static void flip_begin(flipper_t *f, uint32_t *word, uint32_t a, uint32_t b)
{
    *f = (flipper_t){.word = word, .values = {a, b}};
    assert_int_equal(pthread_create(&f->thread, NULL, flip, f), 0);
}

static void flip_end(flipper_t *f)
{
    __atomic_store_n(&f->stop, 1, __ATOMIC_RELAXED);
    pthread_join(f->thread, NULL);
}

/* Repair again and again while a word has two values. */
static void repair_against(scene_t *s, uint32_t *word, uint32_t good,
                           uint32_t bad)
{
    int64_t end = apl_now() + SECONDS(1) / 5;
    flipper_t f;
    apl_lock_token_t token;

    flip_begin(&f, word, good, bad);
    while (apl_now() < end) {
        s->pool.damaged = 1;
        if (apl_enter(&token, &s->pool, s->now, SECONDS(5)) == APR_SUCCESS)
            apl_leave(&token);
    }
    flip_end(&f);
    *word = good;
}

static void a_repair_stays_in_bounds(void **state)
{
    scene_t *s = scene_new(4);
    apl_app_t *a = scene_app(s, "a");
    apl_header_t *h = s->pool.header;
    apl_session_ref_t holds[3];
    apl_lock_token_t token;
    int i;

    (void)state;
    a->options.max_instances = 2;
    for (i = 0; i < 3; i++)
        scene_get(s, &holds[i], a);
    repair_against(s, &h->top_process, 2, 0x7fffffff);
    repair_against(s, &h->top_group, 1, 0x7fffffff);
    repair_against(s, &h->top_session, 3, 0x7fffffff);
    repair_against(s, &h->top_child, 1, 0x7fffffff);
    repair_against(s, &s->pool.sessions[3].child, 1, 0x3fffffff);
    repair_against(s, &s->pool.sessions[3].group, 1, 0x00ffffff);
    repair_against(s, &s->pool.sessions[1].process, 1, 0x00ffffff);
    repair_against(s, &s->pool.processes[1].group, 1, 0x00ffffff);
    repair_against(s, &s->pool.groups[1].processes.next, 0,
                   APL_OFFSET(&s->pool, &s->pool.processes[1].member));
    repair_against(s, &s->pool.processes[1].member.next, 0,
                   APL_OFFSET(&s->pool, &s->pool.processes[1].member));
    s->pool.damaged = 1;
    assert_int_equal(apl_enter(&token, &s->pool, s->now, 0), APR_SUCCESS);
    apl_leave(&token);
    h->counters.repairs = 0;
    scene_end(s);
}

static void the_limit_of_the_lock_is_one(void **state)
{
    uint32_t word = 1;
    int64_t begin = apl_now();
    flipper_t f;
    int died;

    (void)state;
    flip_begin(&f, &word, 1, 2);
    assert_int_equal(apl_lock_take(&word, SECONDS(1) / 10, &died), APL_ELOCK);
    flip_end(&f);
    assert_in_range(apl_now() - begin, SECONDS(1) / 10, SECONDS(30));
}

/* A caller that has waited in vain once does not wait again until its patience
 * is set again. */
static void patience_is_for_all_verbs_together(void **state)
{
    scene_t *s = scene_new(1);
    apl_app_t *a = scene_app(s, "a");
    int64_t begin = apl_now();
    int i;

    (void)state;
    s->pool.header->lock = 1; /* a thread that is always there */
    s->pool.patience = SECONDS(1) / 10;
    for (i = 0; i < 600; i++) /* a minute, were it for each of them */
        assert_int_equal(apl_configure_group(&s->pool, a, 1, s->now),
                         APL_ELOCK);
    assert_in_range(apl_now() - begin, SECONDS(1) / 10, SECONDS(30));
    s->pool.header->lock = 0;
    s->pool.patience = APL_PATIENCE;
    assert_int_equal(apl_configure_group(&s->pool, a, 1, s->now), APR_SUCCESS);
    scene_end(s);
}

/* ---- writes before a verb ---- */

static void a_stranger_among_the_idle_ends_no_tick(void **state)
{
    scene_t *s = scene_new(4);
    apl_session_ref_t h;
    int64_t next;

    (void)state;
    scene_get(s, &h, scene_app(s, "a"));
    scene_close(s, &h);
    scene_process(s, h.id)->state = APL_PROCESS_LEAVING;
    s->pool.header->max = 0;
    assert_int_equal(apl_housekeeping_tick(&s->pool, s->now, &next),
                     APR_SUCCESS);
    s->pool.header->counters.repairs = 0;
    scene_end(s);
}

static void wild_times_call_the_tick_in_time(void **state)
{
    static const int64_t wild[] = {INT64_MIN, -1, 0, 1, INT64_MAX};
    scene_t *s = scene_new(4);
    apl_session_ref_t h;
    unsigned i, j;
    int64_t next;

    (void)state;
    scene_get(s, &h, scene_app(s, "a"));
    scene_close(s, &h);
    for (i = 0; i < 5; i++)
        for (j = 0; j < 5; j++) {
            s->pool.groups[1].options.idle_time = wild[i];
            s->pool.groups[1].failures = 1;
            s->pool.groups[1].outdated = 1;
            s->pool.groups[1].retry_at = wild[j];
            s->pool.processes[1].last_used = wild[j];
            apl_housekeeping_tick(&s->pool, s->now, &next);
            assert_in_range(next, s->now, s->now + SECONDS(1));
        }
    scene_drop(s);
}

static void a_hidden_process_is_put_back(void **state)
{
    scene_t *s = scene_new(8);
    apl_app_t *a = scene_app(s, "a");
    apl_session_ref_t h[4], more;
    apl_lock_token_t token;
    int i;

    (void)state;
    for (i = 0; i < 4; i++)
        scene_get(s, &h[i], a);
    s->pool.header->top_process = 2;
    s->pool.damaged = 1;
    assert_int_equal(apl_enter(&token, &s->pool, s->now, 0), APR_SUCCESS);
    apl_leave(&token);
    s->pool.header->counters.repairs = 0;
    for (i = 0; i < 4; i++) {
        const apl_start_t start = scene_start(1);

        if (scene_condition(s, h[i].id).state != APL_PROCESS_FREE)
            continue;
        assert_int_equal(
            apl_reconcile_adopt(&s->pool, h[i].id, &start, "a", 1, s->now),
            APR_SUCCESS);
        scene_ok(s);
    }
    /* With the requests that they have, which no other process gets. */
    scene_is(s, 4, 4);
    assert_int_equal(scene_ask(s, &more, a), APL_EWAIT);
    for (i = 0; i < 4; i++)
        scene_close(s, &h[i]);
    scene_close(s, &more);
    scene_spawn(s);
    scene_reap(s);
    scene_end(s);
}

static void a_broken_bucket_makes_no_second_group(void **state)
{
    scene_t *s = scene_new(4);
    apl_app_t *a = scene_app(s, "a");
    apl_session_ref_t h;
    int i;

    (void)state;
    scene_get(s, &h, a);
    scene_close(s, &h);
    for (i = 0; i < APL_BUCKETS; i++)
        s->pool.header->buckets[i].next = 0;
    for (i = 0; i < 3; i++) {
        assert_int_equal(apl_checkout(&s->pool, &h, a, NULL, NULL, s->now),
                         APR_SUCCESS);
        apl_checkin(&s->pool, &h, s->now);
    }
    assert_int_equal(s->pool.header->top_group, 1);
    assert_int_equal(s->pool.header->counters.repairs, 1);
    s->pool.header->counters.repairs = 0;
    scene_end(s);
}

static void the_table_prevails_over_wild_options(void **state)
{
    scene_t *s = scene_new(4);
    apl_app_t *a = scene_app(s, "a");
    apl_options_t *o = &s->pool.groups[1].options;
    apl_session_ref_t h;

    (void)state;
    scene_get(s, &h, a);
    scene_close(s, &h);
    memset(o, 0xff, sizeof *o);
    apl_configure_group(&s->pool, a, 0, s->now);
    assert_memory_equal(o, &a->options, sizeof *o);
    scene_end(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_repair_stays_in_bounds),
        cmocka_unit_test(the_limit_of_the_lock_is_one),
        cmocka_unit_test(patience_is_for_all_verbs_together),
        cmocka_unit_test(a_stranger_among_the_idle_ends_no_tick),
        cmocka_unit_test(wild_times_call_the_tick_in_time),
        cmocka_unit_test(a_hidden_process_is_put_back),
        cmocka_unit_test(a_broken_bucket_makes_no_second_group),
        cmocka_unit_test(the_table_prevails_over_wild_options),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
