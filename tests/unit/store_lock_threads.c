/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/* Threads fight for locks, as connections of several workers do. One at a time
 * has a lock, and no other changes the item meanwhile. */

#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "store/memory/region.h"
#include "store/protocol/delta.h"
#include "store/protocol/verbs.h"
#include "tests/unit/support/shelf.h"

#define THREADS 4
#define ROUNDS  4000
#define SELDOM  16

typedef struct {
    shelf_t *shelf;
    store_counters_t counters;
    store_locks_t locks;
    store_caller_t caller;
    pthread_t thread;
    unsigned taken, refused;
} fighter_t;

/* What the lock guards. ThreadSanitizer sees if it does not. */
static unsigned holders, guarded;

/* Two changes. None of another thread comes between, which the cas shows. */
static void change(fighter_t *f)
{
    store_delta_t d = {.delta = 1};

    assert_int_equal(holders++, 0);
    guarded++;
    for (int i = 0; i < 2; i++) {
        assert_int_equal(store_delta_apply(&f->caller, "k", 1, &d), STORE_DONE);
        d.cas = d.new_cas;
        if (guarded % SELDOM == 0) /* on a busy machine that takes ms */
            sched_yield();
    }
    assert_int_equal(d.value, 2 * guarded);
    assert_int_equal(--holders, 0);
}

/* Without a lock: it is refused, or nobody has the lock. */
static void disturb(fighter_t *f)
{
    store_delta_t d = {.delta = 0};
    store_result_t rv = store_delta_apply(&f->caller, "k", 1, &d);

    assert_true(rv == STORE_DONE || rv == STORE_LOCKED_OUT);
    f->refused += rv == STORE_LOCKED_OUT;
}

/* How often the lock was given back. A thread that was refused sleeps until it
 * changes. If it looked all the time, it would take the processor from the
 * holder, for minutes if there is only one. For ThreadSanitizer, a change gives
 * the threads no order: only the lock itself may do that. */
static uint32_t given_back;

static void futex(int what, uint32_t value)
{
    syscall(SYS_futex, &given_back, what, value, NULL, NULL, 0);
}

static void take(fighter_t *f)
{
    for (;;) {
        uint32_t seen = __atomic_load_n(&given_back, __ATOMIC_RELAXED);

        if (store_key_lock(&f->caller, "k", 1) == STORE_DONE)
            return;
        disturb(f);
        futex(FUTEX_WAIT_PRIVATE, seen);
    }
}

static void let_others_try(void)
{
    __atomic_add_fetch(&given_back, 1, __ATOMIC_RELAXED);
    futex(FUTEX_WAKE_PRIVATE, THREADS);
}

static void *fight(void *arg)
{
    fighter_t *f = arg;

    while (f->taken < ROUNDS) {
        take(f);
        change(f);
        if (++f->taken % 2)
            assert_int_equal(store_key_unlock(&f->caller, "k", 1), STORE_DONE);
        else
            store_key_unlock_all(&f->caller);
        let_others_try();
    }
    take(f); /* and end with it, as a connection does */
    store_key_lock_free(&f->caller);
    let_others_try();
    return NULL;
}

static void one_at_a_time(void **state)
{
    static fighter_t fighters[THREADS];
    unsigned taken = 0;
    shelf_t shelf;
    store_item_t *item;

    (void)state;
    shelf_open(&shelf, 16, 1);
    item = store_item_make(shelf.space, "k", 1, 0, 0, 1);
    assert_non_null(item);
    store_item_write(shelf.space, item, 0, "0", 1);
    for (int i = 0; i < THREADS; i++) {
        fighter_t *f = &fighters[i];

        f->shelf = &shelf;
        f->caller =
            (store_caller_t){shelf.space, &f->counters, NULL, &f->locks};
    }
    uint64_t cas;
    assert_int_equal(store_update(&fighters[0].caller, item,
                                  &(store_update_t){.mode = STORE_MODE_SET},
                                  &cas),
                     STORE_DONE);
    store_item_release(shelf.space, item);
    for (int i = 0; i < THREADS; i++)
        pthread_create(&fighters[i].thread, NULL, fight, &fighters[i]);
    for (int i = 0; i < THREADS; i++) {
        pthread_join(fighters[i].thread, NULL);
        taken += fighters[i].taken;
    }
    assert_int_equal(taken, THREADS * ROUNDS);
    assert_int_equal(guarded, THREADS * ROUNDS);
    assert_int_equal(shelf.space->figures->locks, 0);
    shelf_check(&shelf);
    shelf_close(&shelf);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_at_a_time),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
