/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/* A waiter is woken at once, and not at the end of a slice. The spawner also
 * learns of its work at once. */

#include <linux/futex.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "shm/verbs/timeouts.h"
#include "shm/verbs/enter.h"
#include "shm/lock/lock.h"
#include "shm/lock/wake.h"
#include "tests/unit/support/scene.h"

#define LONG                                                                   \
    (60 * 1000000) /* us; a thread that is woken does not sleep this long */

/* ---- waiters ---- */

typedef struct {
    uint32_t *word, seen;
    int64_t slept; /* us */
    int tid;
} sleeper_t;

static void *sleep_long(void *arg)
{
    sleeper_t *z = arg;
    int64_t since = apl_now();

    __atomic_store_n(&z->tid, (int)syscall(SYS_gettid), __ATOMIC_RELEASE);
    apl_wake_sleep(z->word, z->seen, LONG);
    z->slept = apl_now() - since;
    return NULL;
}

static int is_asleep(int tid)
{
    char path[64], stat[256] = "";
    const char *at;
    FILE *f;

    snprintf(path, sizeof path, "/proc/self/task/%d/stat", tid);
    f = fopen(path, "r");
    assert_non_null(f);
    assert_non_null(fgets(stat, sizeof stat, f));
    fclose(f);
    at = strrchr(stat, ')');
    return at && at[2] == 'S';
}

static void fall_asleep(sleeper_t *z, pthread_t *thread, uint32_t *word)
{
    *z = (sleeper_t){.word = word, .seen = apl_wake_read(word)};
    pthread_create(thread, NULL, sleep_long, z);
    while (__atomic_load_n(&z->tid, __ATOMIC_ACQUIRE) == 0 ||
           !is_asleep(z->tid))
        usleep(500);
}

static void is_woken(sleeper_t *z, pthread_t thread)
{
    pthread_join(thread, NULL);
    assert_true(z->slept < LONG / 2);
}

static void the_hand_off_wakes_the_sleeper(void **state)
{
    scene_t *s = scene_new(1);
    apl_app_t *a = scene_app(s, "a");
    apl_session_ref_t h, w;
    uint32_t *word, seen;
    pthread_t thread;
    sleeper_t z;

    (void)state;
    assert_int_equal(scene_get(s, &h, a), APR_SUCCESS);
    assert_int_equal(scene_ask(s, &w, a), APL_EWAIT);
    word = &s->pool.sessions[w.session].wake_word;
    seen = apl_wake_read(word);
    fall_asleep(&z, &thread, word);
    scene_close(s, &h);
    is_woken(&z, thread);
    /* A thread that is about to sleep does not sleep. */
    assert_int_not_equal(apl_wake_read(word), seen);
    z = (sleeper_t){.word = word, .seen = seen};
    sleep_long(&z);
    assert_true(z.slept < LONG / 2);
    scene_close(s, &w);
    scene_end(s);
}

static void a_failed_start_wakes_all_sleepers(void **state)
{
    scene_t *s = scene_new(1);
    apl_app_t *a = scene_app(s, "a");
    pthread_t threads[3];
    sleeper_t z[3];
    apl_session_ref_t w[3];
    uint64_t id;
    int i;

    (void)state;
    for (i = 0; i < 3; i++) {
        assert_int_equal(scene_ask(s, &w[i], a), APL_EWAIT);
        fall_asleep(&z[i], &threads[i],
                    &s->pool.sessions[w[i].session].wake_word);
    }
    id = scene_take(s);
    scene_failed(s, id);
    for (i = 0; i < 3; i++) {
        is_woken(&z[i], threads[i]);
        assert_int_equal(scene_poll(s, &w[i]), APL_ESTART);
    }
    scene_end(s);
}

static void a_stopping_child_wakes_its_waiters(void **state)
{
    scene_t *s = scene_new(1);
    apl_app_t *a = scene_app(s, "a");
    uint32_t first = s->pool.self, second = scene_child(s), seen;
    apl_session_ref_t other, w;
    pthread_t thread;
    sleeper_t z;

    (void)state;
    assert_int_equal(scene_ask(s, &other, a), APL_EWAIT);
    seen = s->pool.sessions[other.session].wake_word;
    scene_be(s, first);
    assert_int_equal(scene_ask(s, &w, a), APL_EWAIT);
    fall_asleep(&z, &thread, &s->pool.sessions[w.session].wake_word);
    apl_checkout_stop(&s->pool);
    is_woken(&z, thread);
    assert_int_equal(s->pool.sessions[other.session].wake_word, seen);
    scene_close(s, &w);
    scene_be(s, second);
    scene_close(s, &other);
    scene_end(s);
}

/* ---- waiters for the lock ---- */

static void the_free_lock_wakes_its_sleepers(void **state)
{
    static uint32_t word;
    pthread_t thread;
    sleeper_t z;
    int died;

    (void)state;
    assert_int_equal(apl_lock_take(&word, -1, &died), APR_SUCCESS);
    word |= FUTEX_WAITERS;
    fall_asleep(&z, &thread, &word);
    apl_lock_give(&word);
    is_woken(&z, thread);
}

static void the_breaker_of_the_lock_wakes_sleepers(void **state)
{
    static uint32_t word = FUTEX_WAITERS | 1;
    pthread_t thread;
    sleeper_t z;

    (void)state;
    fall_asleep(&z, &thread, &word);
    apl_lock_break(&word, 2);
    assert_int_equal(word, FUTEX_WAITERS | 1); /* another one's */
    apl_lock_break(&word, 1);
    is_woken(&z, thread);
}

/* ---- the spawner ---- */

/* Has the doorbell been rung since the last look? */
static int rang(const scene_t *s)
{
    uint64_t n;

    return read(s->pool.doorbell, &n, sizeof n) == sizeof n;
}

static void the_doorbell_rings_for_each_task(void **state)
{
    scene_t *s = scene_new(1);
    apl_app_t *a = scene_app(s, "a");
    apl_session_ref_t h;
    uint64_t id;

    (void)state;
    s->pool.doorbell = eventfd(0, EFD_NONBLOCK);
    scene_child(s);
    assert_true(rang(s)); /* a child to watch */
    assert_int_equal(scene_ask(s, &h, a), APL_EWAIT);
    assert_true(rang(s)); /* an order to take */
    id = scene_take(s);
    scene_ready(s, id);
    scene_close(s, &h);
    assert_int_equal(scene_get(s, &h, a), APR_SUCCESS);
    assert_false(rang(s)); /* what needs no spawner */
    apl_checkin_abandon(&s->pool, &h, s->now);
    assert_true(rang(s)); /* a request to watch */
    assert_int_equal(apl_timeouts_end_abandoned(&s->pool, id, 1, s->now),
                     APR_SUCCESS);
    assert_int_equal(scene_get(s, &h, a), APR_SUCCESS);
    assert_int_equal(
        apl_supervise_detach(&s->pool, id, APL_EVENT_DETACHED, s->now),
        APR_SUCCESS);
    assert_true(rang(s)); /* a process that leaves */
    scene_close(s, &h);
    assert_true(rang(s)); /* which may be ended */
    assert_false(rang(s));
    assert_int_equal(apl_housekeeping_repair(&s->pool, s->now), APR_SUCCESS);
    assert_true(rang(s)); /* perhaps an order of the dead process */
    s->pool.header->counters.repairs = 0;
    close(s->pool.doorbell);
    scene_end(s);
}

/* No request waits for the processes with abandoned requests. */
static void the_last_awaited_request_rings(void **state)
{
    scene_t *s = scene_new(1);
    apl_app_t *a = scene_app(s, "a");
    apl_session_ref_t left, h;

    (void)state;
    a->options.concurrency = 2;
    assert_int_equal(scene_get(s, &left, a), APR_SUCCESS);
    assert_int_equal(scene_get(s, &h, a), APR_SUCCESS);
    apl_checkin_abandon(&s->pool, &left, s->now);
    assert_int_equal(
        apl_supervise_detach(&s->pool, h.id, APL_EVENT_DETACHED, s->now),
        APR_SUCCESS);
    s->pool.doorbell = eventfd(0, EFD_NONBLOCK);
    scene_close(s, &h);
    assert_true(rang(s));
    close(s->pool.doorbell);
    scene_end(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_hand_off_wakes_the_sleeper),
        cmocka_unit_test(a_failed_start_wakes_all_sleepers),
        cmocka_unit_test(a_stopping_child_wakes_its_waiters),
        cmocka_unit_test(the_free_lock_wakes_its_sleepers),
        cmocka_unit_test(the_breaker_of_the_lock_wakes_sleepers),
        cmocka_unit_test(the_doorbell_rings_for_each_task),
        cmocka_unit_test(the_last_awaited_request_rings),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
