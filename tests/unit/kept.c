/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/* The threads of a child of httpd share the list of idle connections, and one
 * more thread closes those that are too old. The pool, the clock and the
 * descriptors are played here. */

#include "mod_apppool/backend/kept.h"

#include <ap_mpm.h>
#include <apr_general.h>
#include <httpd.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "shm/slots/connection_room.h"
#include "tests/unit/support/scene.h"

#define THREADS 4
#define ROUNDS  3000 /* at least, and until every possible event has happened */
#define PIDS    6
#define FDS     4096
#define FIRST   100000 /* no real descriptor */
#define GONE    99     /* a process that has no room */

/* Who has a descriptor? */
enum { NOBODY, A_THREAD, THE_LIST };
static uint32_t owners[FDS];
static uint32_t connected, reused, expired, ended;
static int64_t step = 20000; /* us that each look at the clock takes */

/* ---- a clock that moves when it is looked at ---- */

int __wrap_clock_gettime(clockid_t clock, struct timespec *t);

int __wrap_clock_gettime(clockid_t clock, struct timespec *t)
{
    static int64_t us = 1;
    int64_t now = __atomic_add_fetch(
        &us, __atomic_load_n(&step, __ATOMIC_RELAXED), __ATOMIC_RELAXED);

    (void)clock;
    t->tv_sec = now / 1000000;
    t->tv_nsec = now % 1000000 * 1000;
    return 0;
}

/* ---- descriptors ---- */

static void pass_on(int fd, uint32_t from, uint32_t to)
{
    if (__atomic_exchange_n(&owners[fd - FIRST], to, __ATOMIC_RELAXED) != from)
        abort();
}

static int connect_one(void)
{
    int i;

    for (i = 0; i < FDS; i++) {
        uint32_t nobody = NOBODY;

        if (__atomic_compare_exchange_n(&owners[i], &nobody, A_THREAD, 0,
                                        __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
            __atomic_add_fetch(&connected, 1, __ATOMIC_RELAXED);
            return FIRST + i;
        }
    }
    abort();
}

int __real_close(int fd);
int __wrap_close(int fd);

/* Only the list closes them, and only those that it has. */
int __wrap_close(int fd)
{
    if (fd < FIRST)
        return __real_close(fd);
    pass_on(fd, THE_LIST, NOBODY);
    __atomic_add_fetch(&expired, 1, __ATOMIC_RELAXED);
    return 0;
}

/* ---- httpd, and the pool of processes ---- */

apr_status_t ap_mpm_query(int what, int *result)
{
    *result = what == AP_MPMQ_IS_THREADED;
    return APR_SUCCESS;
}

int apl_connection_room_is_there(const apl_pool_t *pool, uint64_t id,
                                 int64_t now)
{
    (void)pool, (void)now;
    return id != GONE;
}

/* One that is idle is counted once, and only then. */
static int counted[PIDS + 1];

void apl_connection_room_count(const apl_pool_t *pool, uint64_t id, int change)
{
    (void)pool;
    if (__atomic_add_fetch(&counted[id], change, __ATOMIC_RELAXED) < 0)
        abort();
}

uint32_t apl_connection_room_read(const apl_pool_t *pool)
{
    (void)pool;
    return 0;
}

void apl_connection_room_sleep(const apl_pool_t *pool, uint32_t seen,
                               int64_t us)
{
    (void)pool, (void)seen;
    if (us <= 0 || us > APPPOOL_KEPT_LIMIT)
        abort();
    while (__atomic_load_n(&ended, __ATOMIC_ACQUIRE))
        pause();
    sched_yield();
}

/* ---- many threads ---- */

static void put(uint64_t id, int fd)
{
    pass_on(fd, A_THREAD, THE_LIST);
    apppool_kept_put(id, fd);
}

static int take(uint64_t id)
{
    int fd = apppool_kept_take(id);

    if (fd >= 0)
        pass_on(fd, THE_LIST, A_THREAD);
    return fd;
}

static void one_request(uint64_t id)
{
    int fd = take(id);

    if (fd >= 0)
        __atomic_add_fetch(&reused, 1, __ATOMIC_RELAXED);
    else
        fd = connect_one();
    put(id, fd);
}

static int all_happened(void)
{
    return __atomic_load_n(&connected, __ATOMIC_RELAXED) > 0 &&
           __atomic_load_n(&reused, __ATOMIC_RELAXED) > 0 &&
           __atomic_load_n(&expired, __ATOMIC_RELAXED) > 0;
}

static void *be_worker(void *number)
{
    uintptr_t i;

    for (i = 0; i < ROUNDS || !all_happened(); i++)
        one_request(1 + (i * 7 + (uintptr_t)number) % PIDS);
    return NULL;
}

static int idle_ones(void)
{
    int i, n = 0;

    for (i = 1; i <= PIDS; i++)
        n += __atomic_load_n(&counted[i], __ATOMIC_RELAXED);
    return n;
}

static void a_taken_one_has_one_user(void **state)
{
    pthread_t threads[THREADS];
    apr_pool_t *p;
    uintptr_t i;

    (void)state;
    apr_pool_create(&p, NULL);
    apppool_kept_init(p, NULL);
    for (i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, be_worker, (void *)i);
    for (i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    assert_true(all_happened());
}

/* ---- one thread, and a clock that stands ---- */

static void last_in_first_out(void **state)
{
    int a = connect_one(), b = connect_one(), c = connect_one();

    (void)state;
    while (take(1) >= 0 || take(2) >= 0)
        ;
    put(1, a);
    put(2, b);
    put(1, c);
    assert_int_equal(take(1), c);
    assert_int_equal(take(1), a);
    assert_int_equal(take(1), -1);
    assert_int_equal(take(2), b);
    assert_int_equal(take(GONE), -1);
}

static void none_without_room(void **state)
{
    (void)state;
    put(GONE, connect_one());
    assert_int_equal(take(GONE), -1);
}

/* The oldest one is closed for the newest one. */
static void only_so_many(void **state)
{
    int i, n = idle_ones(), fd = -1;

    (void)state;
    for (i = 0; i < 100; i++)
        put(5, fd = connect_one());
    assert_true(n <= 16 && idle_ones() == 16);
    assert_int_equal(take(5), fd);
    put(5, fd);
}

static void which_are_kept(void **state)
{
    (void)state;
    assert_true(apppool_kept_is_allowed(1, 0));
    assert_true(apppool_kept_is_allowed(1, 8));
    assert_false(apppool_kept_is_allowed(1, 1));
    assert_false(apppool_kept_is_allowed(GONE, 0));
}

static int stop_the_clock(void **state)
{
    (void)state;
    __atomic_store_n(&ended, 1, __ATOMIC_RELEASE);
    __atomic_store_n(&step, 0, __ATOMIC_RELAXED);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_taken_one_has_one_user),
        cmocka_unit_test_setup(last_in_first_out, stop_the_clock),
        cmocka_unit_test(none_without_room),
        cmocka_unit_test(only_so_many),
        cmocka_unit_test(which_are_kept),
    };

    apr_initialize();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
