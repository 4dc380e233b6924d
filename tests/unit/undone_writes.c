/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/* Another process undoes each write of a verb at once. Each loop of the verb
 * still ends. The linker wraps the writes, so that each one is undone, and not
 * only some. */

#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include "shm/verbs/timeouts.h"
#include "shm/verbs/enter.h"
#include "shm/slots/group.h"
#include "shm/slots/process.h"
#include "shm/slots/queue.h"
#include "tests/unit/support/scene.h"
#include "shm/format/segment.h"

#define MANY 2000 /* a loop with this many turns has no end */

static const apl_capacity_t capacity = {8, 32, 128, 8};
static char before[1 << 20];
static scene_t *s;
static uint32_t n_done; /* since remember() */
static int undoing;
static int64_t hurry; /* us that the clock moves with each look at it */

static void undo(void)
{
    apl_header_t *h = s->pool.header;
    uint32_t lock = h->lock, sequence = h->sequence;

    if (!undoing || ++n_done > MANY)
        return;
    memcpy(s->pool.base, before, s->pool.size);
    h->lock = lock;
    h->sequence = sequence;
}

/* From now on each write is undone. */
static void remember(void)
{
    assert_true(s->pool.size <= sizeof before);
    memcpy(before, s->pool.base, s->pool.size);
    n_done = 0;
    undoing = 1;
}

void __real_apl_process_leave(apl_lock_token_t *token, apl_process_t *process,
                              uint32_t reason);
void __wrap_apl_process_leave(apl_lock_token_t *token, apl_process_t *process,
                              uint32_t reason);
apl_process_t *__real_apl_process_reserve(apl_lock_token_t *token,
                                          apl_group_t *group, int replaces);
apl_process_t *__wrap_apl_process_reserve(apl_lock_token_t *token,
                                          apl_group_t *group, int replaces);
void __real_apl_checkin_reclaim(apl_lock_token_t *token,
                                apl_session_t *session);
void __wrap_apl_checkin_reclaim(apl_lock_token_t *token,
                                apl_session_t *session);
int __real_clock_gettime(clockid_t clock, struct timespec *t);
int __wrap_clock_gettime(clockid_t clock, struct timespec *t);

void __wrap_apl_process_leave(apl_lock_token_t *token, apl_process_t *process,
                              uint32_t reason)
{
    __real_apl_process_leave(token, process, reason);
    undo();
}

apl_process_t *__wrap_apl_process_reserve(apl_lock_token_t *token,
                                          apl_group_t *group, int replaces)
{
    apl_process_t *p = __real_apl_process_reserve(token, group, replaces);

    undo();
    return p;
}

void __wrap_apl_checkin_reclaim(apl_lock_token_t *token, apl_session_t *session)
{
    __real_apl_checkin_reclaim(token, session);
    undo();
}

int __wrap_clock_gettime(clockid_t clock, struct timespec *t)
{
    static int64_t ahead; /* us */
    int rv = __real_clock_gettime(clock, t);

    ahead += hurry;
    t->tv_sec += ahead / 1000000;
    return rv;
}

/* ---- the scene: a small pool ---- */

static int setup(void **state)
{
    void *memory =
        mmap(NULL, apl_segment_size(&capacity), PROT_READ | PROT_WRITE,
             MAP_SHARED | MAP_ANONYMOUS, -1, 0);

    (void)state;
    s = scene_new(1);
    assert_ptr_not_equal(memory, MAP_FAILED);
    munmap(s->pool.base, s->pool.size);
    apl_segment_format(&s->pool, memory, &capacity);
    apl_configure_limits(&s->pool, 16, 1, s->now);
    assert_int_equal(apl_child_register(&s->pool, 1), APR_SUCCESS);
    undoing = 0;
    hurry = 0;
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    undoing = 0;
    scene_drop(s);
    return 0;
}

/* Make an app with this many idle processes. */
static apl_group_t *idle_ones(int n)
{
    apl_app_t *a = scene_app(s, "a");
    apl_session_ref_t h[16];
    int i;

    scene_busy(s, a, h, n);
    for (i = 0; i < n; i++)
        scene_close(s, &h[i]);
    scene_is(s, (uint32_t)n, 0);
    return &s->pool.groups[1];
}

/* ---- loops that end ---- */

static void trimming_a_group(void **state)
{
    apl_group_t *g = idle_ones(4);
    int64_t next;

    (void)state;
    g->options.max_instances = 1;
    remember();
    assert_int_equal(apl_housekeeping_tick(&s->pool, s->now, &next),
                     APR_SUCCESS);
    assert_in_range(n_done, 4, s->pool.n.processes);
}

static void trimming_the_pool(void **state)
{
    apl_group_t *g = idle_ones(4);
    int64_t next;

    (void)state;
    g->options.min_instances = 4;
    s->pool.header->max = 1;
    remember();
    assert_int_equal(apl_housekeeping_tick(&s->pool, s->now, &next),
                     APR_SUCCESS);
    assert_in_range(n_done, 4, s->pool.n.processes);
}

/* Two apps wait for a place, and there is one. */
static void giving_places_away(void **state)
{
    apl_session_ref_t h, waits[2];

    (void)state;
    s->pool.header->max = 1;
    assert_int_equal(scene_get(s, &h, scene_app(s, "a")), APR_SUCCESS);
    assert_int_equal(scene_ask(s, &waits[0], scene_app(s, "b")), APL_EWAIT);
    assert_int_equal(scene_ask(s, &waits[1], scene_app(s, "c")), APL_EWAIT);
    s->pool.header->max = 16;
    remember();
    assert_int_equal(apl_configure_limits(&s->pool, 16, 2, s->now),
                     APR_SUCCESS);
    assert_in_range(n_done, 2, 2 * s->pool.n.groups);
}

static void ending_abandoned_requests(void **state)
{
    apl_session_ref_t h;

    (void)state;
    assert_int_equal(scene_get(s, &h, scene_app(s, "a")), APR_SUCCESS);
    apl_checkin_abandon(&s->pool, &h, s->now);
    assert_int_equal(s->pool.header->abandoned, 1);
    remember();
    apl_timeouts_end_abandoned(&s->pool, h.id, UINT32_MAX, s->now);
    assert_in_range(n_done, 1, s->pool.n.sessions);
}

/* The rounds of apl_leave() last a second at most. The next tick serves
 * waiters that are left. */
static void serving_in_rounds(void **state)
{
    enum { N = 2 * APL_WAKES_MAX + 8 };
    apl_app_t *a = scene_app(s, "a");
    apl_session_ref_t h, w[N];
    apl_lock_token_t token;
    const apl_group_t *g;

    (void)state;
    s->pool.header->max = 1;
    assert_int_equal(scene_get(s, &h, a), APR_SUCCESS);
    scene_waiting(s, a, w, N);
    g = scene_widen(s, a, &token);
    hurry = 2 * SECOND;
    apl_leave(&token);
    hurry = 0;
    assert_int_equal(g->waiting, 8);
    scene_tick(s, 0);
    assert_int_equal(g->waiting, 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(trimming_a_group),   TEST(trimming_the_pool),
        TEST(giving_places_away), TEST(ending_abandoned_requests),
        TEST(serving_in_rounds),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
