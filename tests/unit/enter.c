/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/* apl_enter() and apl_leave(): damage that is met inside is repaired before the
 * next process enters. */

#include <linux/futex.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "shm/verbs/enter.h"
#include "shm/slots/group.h"
#include "shm/lock/lock.h"
#include "shm/slots/queue.h"
#include "tests/unit/support/scene.h"
#include "tests/unit/support/test_clock.h"

static void damage_is_repaired_before_the_lock_is_given_back(void **state)
{
    scene_t *s = scene_new(2);
    apl_header_t *h = s->pool.header;
    apl_lock_token_t token;

    (void)state;
    assert_int_equal(apl_enter(&token, &s->pool, s->now, APL_FOREVER),
                     APR_SUCCESS);
    h->count = 77;
    s->pool.damaged = 1;
    apl_leave(&token);
    assert_int_equal(h->count, 0);
    assert_int_equal(h->counters.repairs, 1);
    /* Once is enough. */
    assert_int_equal(apl_enter(&token, &s->pool, s->now, APL_FOREVER),
                     APR_SUCCESS);
    apl_leave(&token);
    assert_int_equal(h->counters.repairs, 1);
    h->counters.repairs = 0;
    scene_end(s);
}

/* Not all waiters can be woken under one lock. The process that was about to
 * serve the rest in another round died before it entered again. */
static void a_request_between_two_rounds_overtakes_no_other(void **state)
{
    enum { N = APL_WAKES_MAX + 8 };
    scene_t *s = scene_new(1);
    apl_app_t *a = scene_app(s, "a");
    apl_session_ref_t h, w[N], late;
    apl_lock_token_t token;
    const apl_group_t *g;

    (void)state;
    assert_int_equal(scene_get(s, &h, a), APR_SUCCESS);
    scene_waiting(s, a, w, N);
    g = scene_widen(s, a, &token);
    assert_int_equal(g->waiting, 8);
    assert_true(token.more);
    token.more = 0;
    apl_leave(&token);
    /* I19 does not hold here, so not scene_ask(). */
    assert_int_equal(apl_checkout(&s->pool, &late, a, NULL, NULL, s->now),
                     APL_EWAIT);
    scene_tick(s, 1000000);
    scene_polls(s, w, N, APR_SUCCESS);
    assert_int_equal(scene_poll(s, &late), APR_SUCCESS);
    scene_end(s);
}

/* A process that is stopped inside. */
static pid_t stopped_inside(scene_t *s)
{
    apl_lock_token_t token;
    pid_t pid = fork();
    int status;

    assert_true(pid >= 0);
    if (pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (apl_enter(&token, &s->pool, s->now, APL_FOREVER) != APR_SUCCESS)
            _exit(1);
        raise(SIGSTOP);
        s->pool.header->count = 77;
        apl_leave(&token);
        _exit(0);
    }
    assert_int_equal(waitpid(pid, &status, WUNTRACED), pid);
    assert_true(WIFSTOPPED(status));
    return pid;
}

/* The lock was broken while its owner did not run. When the owner continues,
 * another process is inside. The owner does not disturb it, and repairs the
 * pool afterwards. */
static void the_owner_of_a_broken_lock_repairs(void **state)
{
    scene_t *s = scene_new(2);
    apl_header_t *h = s->pool.header;
    pid_t owner = stopped_inside(s);
    apl_lock_token_t token;
    uint32_t sequence;
    int status;

    (void)state;
    apl_lock_break(&h->lock, (uint32_t)owner);
    assert_int_equal(apl_enter(&token, &s->pool, s->now, APL_FOREVER),
                     APR_SUCCESS);
    assert_int_equal(h->counters.repairs, 1);
    assert_int_equal(h->roll_call, 0);
    apl_leave(&token); /* for a word without FUTEX_WAITERS */
    assert_int_equal(apl_enter(&token, &s->pool, s->now, APL_FOREVER),
                     APR_SUCCESS);
    assert_int_equal(h->lock, getpid());
    sequence = h->sequence;
    assert_int_equal(sequence % 2, 1);
    kill(owner, SIGCONT);
    while (!(__atomic_load_n(&h->lock, __ATOMIC_ACQUIRE) & FUTEX_WAITERS))
        assert_int_equal(waitpid(owner, &status, WNOHANG), 0);
    assert_int_equal(h->sequence, sequence);
    assert_int_equal(apl_lock_holder(&h->lock), getpid());
    apl_leave(&token);
    assert_int_equal(waitpid(owner, &status, 0), owner);
    assert_int_equal(status, 0);
    assert_int_equal(h->count, 0);
    assert_int_equal(h->counters.repairs, 2);
    assert_true(h->roll_call != 0);
    assert_int_equal(h->lock, 0);
    assert_int_equal(h->sequence % 2, 0);
    h->counters.repairs = h->roll_call = 0;
    scene_end(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(damage_is_repaired_before_the_lock_is_given_back),
        cmocka_unit_test(a_request_between_two_rounds_overtakes_no_other),
        cmocka_unit_test(the_owner_of_a_broken_lock_repairs),
    };

    test_clock_slow(100); /* a verb waits for 1 s at most */
    return cmocka_run_group_tests(tests, NULL, NULL);
}
