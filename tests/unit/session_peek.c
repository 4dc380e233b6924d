/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/* A peek at a session shows one request, whatever happens at the same time. */

#include "shm/slots/session.h"

#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include "shm/verbs/timeouts.h"
#include "shm/lock/lock_token.h"
#include "tests/unit/support/scene.h"

/* The number of sessions with a process. */
static uint32_t peeks(const scene_t *s, apl_session_peek_t *last)
{
    uint32_t i, n = 0, top = apl_session_peek_top(&s->pool);

    for (i = 1; i <= top; i++)
        n += apl_session_peek(&s->pool, i, last) == APR_SUCCESS;
    return n;
}

static void a_session_with_a_process_is_seen(void **state)
{
    scene_t *s = scene_new(1);
    apl_app_t *a = scene_app(s, "a");
    apl_session_ref_t has = {0}, waits = {0};
    apl_session_peek_t seen;
    uint64_t ticket;

    (void)state;
    assert_int_equal(peeks(s, &seen), 0);
    assert_int_equal(scene_get(s, &has, a), APR_SUCCESS);
    assert_int_equal(scene_get(s, &waits, a), APL_EWAIT);
    assert_int_equal(peeks(s, &seen), 1);
    assert_true(seen.process == has.id);
    assert_int_equal(seen.since, s->now);
    assert_int_equal(seen.long_lived, 0);
    apl_session_at(&s->pool, 1)->long_lived = 1;
    assert_int_equal(peeks(s, &seen), 1);
    assert_int_equal(seen.long_lived, 1);
    ticket = seen.ticket;
    s->now += 5000000;
    scene_close(s, &has);
    assert_int_equal(scene_poll(s, &waits), APR_SUCCESS);
    assert_int_equal(peeks(s, &seen), 1);
    assert_int_equal(seen.since, s->now);
    assert_true(seen.ticket != ticket);
    assert_int_equal(seen.long_lived, 0);
    scene_close(s, &waits);
    assert_int_equal(peeks(s, &seen), 0);
    scene_end(s);
}

static void what_is_written_there_stays_in_bounds(void **state)
{
    scene_t *s = scene_new(1);
    apl_session_ref_t has = {0};
    apl_session_t *slot;
    apl_session_peek_t seen;

    (void)state;
    assert_int_equal(scene_get(s, &has, scene_app(s, "a")), APR_SUCCESS);
    slot = apl_session_at(&s->pool, 1);
    memset(slot->method, 'M', sizeof slot->method);
    memset(slot->client, 'C', sizeof slot->client);
    memset(slot->uri, 'U', sizeof slot->uri);
    s->pool.header->top_session = UINT32_MAX;
    assert_int_equal(apl_session_peek_top(&s->pool), s->pool.n.sessions - 1);
    assert_int_equal(peeks(s, &seen), 1);
    assert_int_equal(strlen(seen.method), sizeof seen.method - 1);
    assert_int_equal(strlen(seen.client), sizeof seen.client - 1);
    assert_int_equal(strlen(seen.uri), sizeof seen.uri - 1);
    assert_int_equal(apl_session_peek(&s->pool, 0, &seen), APL_ESTALE);
    assert_int_equal(apl_session_peek(&s->pool, s->pool.n.sessions, &seen),
                     APL_ESTALE);
    scene_drop(s);
}

#define REQUESTS 5000 /* that are seen, one after the other */
/* us; with two processors a test takes a hundredth of a second. */
#define PATIENCE 500000
#define LOOKS    30000
#define LIMIT    30000000ll /* us */

typedef struct {
    apl_session_t *slot;
    int stop;
} writer_t;

/* One request after the other in one slot. All fields of a request are the
 * same number. */
static void *write_requests(void *ctx)
{
    writer_t *w = ctx;
    apl_session_t *slot = w->slot;
    volatile int while_it_lasts;
    uint64_t i;

    for (i = 1; !__atomic_load_n(&w->stop, __ATOMIC_RELAXED); i++) {
        slot->generation++;
        slot->since = (int64_t)i;
        slot->ticket = i;
        APL_CRASH_POINT("test_named");
        slot->id = i;
        __atomic_store_n(&slot->state, APL_SESSION_OPEN, __ATOMIC_RELEASE);
        for (while_it_lasts = 0; while_it_lasts < (int)(i % 64);)
            while_it_lasts++;
        __atomic_store_n(&slot->state, APL_SESSION_FREE, __ATOMIC_RELEASE);
        __atomic_thread_fence(__ATOMIC_SEQ_CST);
    }
    return NULL;
}

static void it_is_never_of_two(void **state)
{
    scene_t *s = scene_new(1);
    writer_t w = {apl_session_at(&s->pool, 1), 0};
    apl_session_peek_t seen;
    int64_t end = apl_now() + PATIENCE;
    uint64_t last = 0;
    pthread_t writer;
    unsigned n = 0;

    (void)state;
    assert_int_equal(pthread_create(&writer, NULL, write_requests, &w), 0);
    while (n < REQUESTS && apl_now() < end) {
        if (apl_session_peek(&s->pool, 1, &seen) != APR_SUCCESS)
            continue;
        assert_true(seen.process == seen.ticket);
        assert_true(seen.since == (int64_t)seen.ticket);
        n += seen.ticket != last;
        last = seen.ticket;
    }
    __atomic_store_n(&w.stop, 1, __ATOMIC_RELAXED);
    pthread_join(writer, NULL);
    scene_drop(s);
}

/* An old request and a new one in turns, of the same process. */
static void *take_turns(void *arg)
{
    writer_t *w = arg;
    apl_session_t *slot = w->slot;
    int64_t now = slot->since;
    uint64_t i;

    for (i = 1; !__atomic_load_n(&w->stop, __ATOMIC_RELAXED); i++) {
        __atomic_store_n(&slot->state, APL_SESSION_FREE, __ATOMIC_RELEASE);
        slot->generation++;
        slot->ticket = i;
        slot->since = i % 2 != 0 ? now : now - 2 * LIMIT;
        __atomic_store_n(&slot->state, APL_SESSION_OPEN, __ATOMIC_RELEASE);
    }
    return NULL;
}

/* The old request is overdue. The new one must not get its age. */
static void what_is_overdue_is_as_old_as_that(void **state)
{
    scene_t *s = scene_new(1);
    apl_app_t *a = scene_app(s, "a");
    writer_t w = {apl_session_at(&s->pool, 1), 0};
    apl_session_ref_t has;
    apl_session_peek_t r;
    int64_t end = apl_now() + PATIENCE;
    pthread_t writer;
    unsigned n = 0;

    (void)state;
    a->options.kill_after = LIMIT;
    s->now += 3 * LIMIT;
    assert_int_equal(scene_get(s, &has, a), APR_SUCCESS);
    assert_int_equal(pthread_create(&writer, NULL, take_turns, &w), 0);
    while (n < LOOKS && apl_now() < end) {
        if (apl_timeouts_find(&s->pool, s->now, &r, 1) == 0)
            continue;
        assert_int_equal(r.ticket % 2, 0);
        n++;
    }
    __atomic_store_n(&w.stop, 1, __ATOMIC_RELAXED);
    pthread_join(writer, NULL);
    scene_drop(s);
}

#define STEPS 40000 /* instructions that all peeks together may take */

/* A child that stops before it peeks at a session.
 * @return 0: it may not be stopped here */
static pid_t look_slowly(const scene_t *s)
{
    pid_t pid = fork();
    apl_session_peek_t r;
    apr_status_t rv;
    int status;

    if (pid == 0) {
        if (ptrace(PTRACE_TRACEME, 0, NULL, NULL) != 0)
            _exit(0);
        raise(SIGSTOP);
        rv = apl_session_peek(&s->pool, 1, &r);
        _exit(rv == APR_SUCCESS && !r.long_lived && r.since != s->now);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    return WIFSTOPPED(status) ? pid : 0;
}

/* @return 0: it has ended */
static int take_steps(pid_t pid, int n)
{
    int status;

    while (n-- > 0) {
        assert_int_equal(ptrace(PTRACE_SINGLESTEP, pid, NULL, NULL), 0);
        assert_int_equal(waitpid(pid, &status, 0), pid);
        if (!WIFSTOPPED(status))
            return 0;
    }
    return 1;
}

/* Count the instructions of a peek. */
static int length(const scene_t *s)
{
    pid_t pid = look_slowly(s);
    int n = 0;

    if (pid == 0)
        skip();
    while (take_steps(pid, 1))
        n++;
    return n;
}

/* A long-lived session is abandoned between any two instructions of the
 * peek, as by apl_checkin_abandon(). It must not seem as old as its response
 * was. With sanitizers a peek has many times the instructions, so only some
 * of them are tried. */
static void what_lasted_is_young(void **state)
{
    scene_t *s = scene_new(1);
    apl_session_t *slot = apl_session_at(&s->pool, 1);
    apl_session_ref_t has;
    int n, all, status, more = 1;
    pid_t pid;

    (void)state;
    assert_int_equal(scene_get(s, &has, scene_app(s, "a")), APR_SUCCESS);
    all = length(s);
    for (n = 0; more; n += 1 + all * all / (2 * STEPS)) {
        slot->since = s->now - LIMIT;
        slot->long_lived = APL_LONG_LIVED_RESPONSE;
        pid = look_slowly(s);
        if (pid == 0)
            skip();
        more = take_steps(pid, n);
        slot->since = s->now;
        __atomic_store_n(&slot->long_lived, 0, __ATOMIC_RELEASE);
        if (!more)
            break;
        assert_int_equal(ptrace(PTRACE_CONT, pid, NULL, NULL), 0);
        assert_int_equal(waitpid(pid, &status, 0), pid);
        assert_int_equal(status, 0);
    }
    assert_true(n > 20); /* it was not all after it */
    scene_drop(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_session_with_a_process_is_seen),
        cmocka_unit_test(what_is_written_there_stays_in_bounds),
        cmocka_unit_test(it_is_never_of_two),
        cmocka_unit_test(what_is_overdue_is_as_old_as_that),
        cmocka_unit_test(what_lasted_is_young),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
