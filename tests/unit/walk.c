/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/* The pool does what the model does, for any verbs in any order. A walk that
 * fails is shortened to the steps that matter.
 *
 * WALKS and STEPS in the environment make it longer, SEED sets the first walk:
 * tests/README.md. */

#include <stdlib.h>
#include <string.h>

#include "tests/unit/support/repeats.h"
#include "tests/unit/support/steps.h"

/* @return the step after which pool and model differ, or -1 */
static int walk(const step_t *steps, int n, char why[300])
{
    walk_t w;
    int i;

    steps_begin(&w);
    for (i = 0; i < n; i++)
        if (!steps_do(&w, &steps[i]))
            break;
    memcpy(why, w.why, sizeof w.why);
    steps_end(&w);
    return i == n ? -1 : i;
}

/* Leave out `size` steps where they do not matter. @return how many steps
 * stay */
static int leave_out(step_t *steps, int n, int size)
{
    step_t *copy = malloc(sizeof *copy * (size_t)n);
    char why[300];
    int i, at;

    for (i = 0; i + size <= n;) {
        memcpy(copy, steps, sizeof *copy * (size_t)i);
        memcpy(copy + i, steps + i + size,
               sizeof *copy * (size_t)(n - i - size));
        at = walk(copy, n - size, why);
        if (at >= 0) {
            n = at + 1;
            memcpy(steps, copy, sizeof *copy * (size_t)n);
        }
        else
            i += size;
    }
    free(copy);
    return n;
}

/* Continue until no step can be left out: then all steps matter. */
static int shrink(step_t *steps, int n)
{
    int size, before;

    for (size = n / 2; size > 1; size /= 2)
        n = leave_out(steps, n, size);
    do {
        before = n;
        n = leave_out(steps, n, 1);
    } while (n < before);
    return n;
}

/* ---- drawing ---- */

/* How often a step is drawn. Each walk has a mood: it multiplies frequent
 * steps by one to three, and rare ones by none to two. */
static const unsigned often[KINDS] = {
    [ASK] = 40,       [LOOK] = 4,       [POLL] = 10,    [GIVE_UP] = 2,
    [CLOSE] = 40,     [REFUSE] = 2,     [JOIN] = 2,     [LATE] = 2,
    [LAST] = 1,       [UNANSWERED] = 1, [TAKE] = 30,    [READY] = 40,
    [FAIL] = 2,       [GONE] = 2,       [REAP] = 10,    [DETACH] = 2,
    [OUTDATE] = 2,    [ADOPT] = 2,      [RESTART] = 3,  [TICK] = 10,
    [LIMIT] = 2,      [CONFIGURE] = 2,  [REMOVE] = 1,   [TEAR] = 2,
    [OWNER_DIES] = 1, [ROLL] = 2,       [CLOCK] = 10,   [KILL] = 3,
    [UNKILLABLE] = 1, [LONG_LIVED] = 1, [DRAIN] = 2,    [ABANDON] = 8,
    [ENDED] = 6,      [START] = 3,      [TEMPLATE] = 6,
};

static void draw(step_t *steps, int n, long seed)
{
    unsigned mood[KINDS], sum = 0;
    int i, k;

    srandom((unsigned)seed);
    for (k = 0; k < KINDS; k++) {
        mood[k] = often[k] * (unsigned)(random() % 3 + (often[k] >= 10));
        sum += mood[k];
    }
    for (i = 0; i < n; i++) {
        unsigned at = (unsigned)random() % sum;

        for (k = 0; at >= mood[k]; k++)
            at -= mood[k];
        steps[i] = (step_t){(kind_t)k, (unsigned)random()};
    }
}

static long wanted(const char *name, long otherwise)
{
    const char *value = getenv(name);

    return value ? strtol(value, NULL, 10) : otherwise;
}

static void pool_and_model_do_the_same(void **state)
{
    long walks = wanted("WALKS", repeats(400)), n = wanted("STEPS", 500);
    long seed = wanted("SEED", 1);
    step_t *steps = calloc((size_t)n, sizeof *steps);
    char why[300];

    (void)state;
    assert_true(walks > 0 && n > 0);
    for (; walks > 0; walks--, seed++) {
        int i, at;

        draw(steps, (int)n, seed);
        at = walk(steps, (int)n, why);
        if (at < 0)
            continue;
        at = shrink(steps, at + 1);
        walk(steps, at, why);
        for (i = 0; i < at; i++)
            print_error("    %s %u\n", steps_word(steps[i].kind),
                        steps[i].what);
        fail_msg("seed %ld, %d steps: %s", seed, at, why);
    }
    free(steps);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pool_and_model_do_the_same),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
