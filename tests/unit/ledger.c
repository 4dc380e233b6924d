/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/* The check of the storm's ledger finds each mistake that it is there to
 * find. */

#include <string.h>

#include "shm/lock/wake.h"
#include "tests/unit/support/ledger.h"
#include "tests/unit/support/scene.h"

static const ledger_rule_t rules[] = {{0, 0}, {1, 0}, {3, 0}, {1, 2}};

/* A session without a wait, with these events. */
static ledger_session_t *session(ledger_t *l, int worker, uint32_t group,
                                 uint64_t process, const uint64_t events[4])
{
    ledger_session_t *v = ledger_session(l, worker);

    *v = (ledger_session_t){.group = group,
                            .ticket = events[0],
                            .process = process,
                            .asked = events[0],
                            .granted = events[1],
                            .closing = events[2],
                            .closed = events[3],
                            .closed_at = (int64_t)events[3]};
    return v;
}

#define EVENTS(...) ((const uint64_t[4]){__VA_ARGS__})

static void is_ready(ledger_t *l, uint64_t process, uint64_t begun)
{
    l->ready[l->n_ready++] = (ready_t){.process = process, .begun = begun};
}

static void judged(ledger_t *l, const char *verdict)
{
    ledger_sums_t sums = {0};
    char why[200] = "";
    int ok = ledger_check(l, rules, &sums, why);

    if (verdict)
        assert_non_null(strstr(why, verdict));
    assert_int_equal(ok, verdict == NULL);
    ledger_drop(l);
}

static void one_after_the_other_is_right(void **state)
{
    ledger_t *l = ledger_new();

    (void)state;
    is_ready(l, 7, 2);
    session(l, 0, 1, 7, EVENTS(1, 3, 5, 6));
    session(l, 1, 1, 7, EVENTS(4, 7, 9, 10))->waited = 1;
    session(l, 0, 1, 7, EVENTS(8, 11, 12, 13))->waited = 1;
    judged(l, NULL);
}

static void two_at_a_time(void **state)
{
    ledger_t *l = ledger_new();

    (void)state;
    session(l, 0, 1, 7, EVENTS(1, 3, 6, 8));
    session(l, 1, 1, 7, EVENTS(2, 4, 5, 7));
    judged(l, "too many at a time");
}

static void up_to_the_concurrency_is_right(void **state)
{
    ledger_t *l = ledger_new();
    int i;

    (void)state;
    for (i = 0; i < 3; i++)
        session(l, i, 2, 7, EVENTS(1, 2, 10, 11));
    session(l, 3, 2, 7, EVENTS(1, 12, 13, 14));
    judged(l, NULL);
}

static void one_more_is_not(void **state)
{
    ledger_t *l = ledger_new();
    int i;

    (void)state;
    for (i = 0; i < 4; i++)
        session(l, i, 2, 7, EVENTS(1, 2, 10, 11));
    judged(l, "too many at a time");
}

/* Also where the last one before was killed. */
static void too_often(void **state)
{
    ledger_t *l = ledger_new();

    (void)state;
    session(l, 0, 3, 7, EVENTS(1, 2, 3, 4));
    session(l, 0, 3, 7, EVENTS(5, 6, 0, 0))->died = 7;
    session(l, 1, 3, 7, EVENTS(8, 9, 10, 11));
    judged(l, "too often");
}

static void overtaken(void **state)
{
    ledger_t *l = ledger_new();

    (void)state;
    is_ready(l, 7, 1);
    session(l, 0, 1, 7, EVENTS(2, 3, 6, 7));
    session(l, 2, 1, 7, EVENTS(5, 8, 10, 11))->waited = 1;
    session(l, 1, 1, 7, EVENTS(4, 12, 13, 14))->waited = 1;
    judged(l, "overtaken");
}

static void without_an_end(void **state)
{
    ledger_t *l = ledger_new();

    (void)state;
    session(l, 0, 1, 7, EVENTS(1, 2, 3, 0));
    judged(l, "without an end");
}

static void ended_twice(void **state)
{
    ledger_t *l = ledger_new();

    (void)state;
    is_ready(l, 7, 1);
    l->ready[0].gone = 2;
    judged(l, "ended twice");
}

/* It slept from `asleep` (us) on, to the end of its slice. The wake-up came
 * before the end of that slice, or after it. */
static void sleeper(int64_t asleep, const char *verdict)
{
    ledger_t *l = ledger_new();
    ledger_session_t *v;

    session(l, 0, 1, 7, EVENTS(1, 2, 4, 5))->closed_at = 100;
    v = session(l, 1, 1, 7, EVENTS(3, 6, 7, 8));
    v->waited = 1;
    v->missed = asleep;
    judged(l, verdict);
}

static void a_wake_up_was_lost(void **state)
{
    (void)state;
    sleeper(50, "a wake-up was lost");
}

static void a_slice_was_over_before_the_wake_up(void **state)
{
    (void)state;
    sleeper(50 - APL_WAKE_SLICE, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_after_the_other_is_right),
        cmocka_unit_test(two_at_a_time),
        cmocka_unit_test(up_to_the_concurrency_is_right),
        cmocka_unit_test(one_more_is_not),
        cmocka_unit_test(too_often),
        cmocka_unit_test(overtaken),
        cmocka_unit_test(without_an_end),
        cmocka_unit_test(ended_twice),
        cmocka_unit_test(a_wake_up_was_lost),
        cmocka_unit_test(a_slice_was_over_before_the_wake_up),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
