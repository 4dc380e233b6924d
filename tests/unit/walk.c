/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/* The pool does what the model does, whatever is asked of it in whatever
 * order. A walk that fails is cut down to the steps that matter.
 *
 * WALKS and STEPS in the environment ask for more; SEED for one walk. */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "shm/check.h"
#include "tests/unit/steps.h"

#define HOLDS 64
#define STEPS 3000

/* ---- comparing ---- */

static uint32_t outdated(const apl_pool_t *pool)
{
    uint32_t i, n = 0;

    for (i = 1; i <= pool->header->top_group; i++)
        n += pool->groups[i].outdated;
    return n;
}

static int same(walk_t *w)
{
    const apl_header_t *h = w->s->pool.header;
    m_sums_t sums = model_sums(w->m);
    apl_finding_t finding;

    if (!apl_check(&w->s->pool, &finding)) {
        snprintf(w->why, sizeof w->why, "I%d: %s", finding.number,
                 finding.text);
        return 0;
    }
    if (h->counters.repairs != 0)
        return steps_differ(w, "repairs", (long)h->counters.repairs, 0);
    if (h->count != sums.count)
        return steps_differ(w, "count", h->count, sums.count);
    if (h->active != sums.active)
        return steps_differ(w, "active", h->active, sums.active);
    if (h->spawning != sums.spawning)
        return steps_differ(w, "spawning", h->spawning, sums.spawning);
    if (h->waiting != sums.waiting)
        return steps_differ(w, "waiting", h->waiting, sums.waiting);
    if (outdated(&w->s->pool) != sums.outdated)
        return steps_differ(w, "outdated", outdated(&w->s->pool),
                            sums.outdated);
    if (h->leaving != sums.leaving)
        return steps_differ(w, "leaving", h->leaving, sums.leaving);
    return 1;
}

/* @return the step at which pool and model part, or -1 */
static int walk(const step_t *steps, int n, char why[300])
{
    walk_t w;
    int i;

    steps_begin(&w);
    for (i = 0; i < n; i++)
        if (!steps_do(&w, &steps[i]) || !same(&w))
            break;
    memcpy(why, w.why, sizeof w.why);
    steps_end(&w);
    return i == n ? -1 : i;
}

/* Leave out what can be left out. */
static int shrink(step_t *steps, int n)
{
    char why[300];
    int size, i, at;

    for (size = n / 2; size > 0; size /= 2)
        for (i = 0; i + size <= n;) {
            step_t *copy = malloc(sizeof *copy * (size_t)n);

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
            free(copy);
        }
    return n;
}

static long wanted(const char *name, long otherwise)
{
    const char *value = getenv(name);

    return value ? strtol(value, NULL, 10) : otherwise;
}

static void pool_and_model_go_the_same_way(void **state)
{
    long walks = wanted("WALKS", 20), n = wanted("STEPS", 1000);
    long seed = wanted("SEED", 1);
    step_t steps[STEPS];
    char why[300];

    (void)state;
    assert_in_range(n, 1, STEPS);
    for (; walks > 0; walks--, seed++) {
        int i, at;

        srand((unsigned)seed);
        for (i = 0; i < n; i++) {
            steps[i].kind = (kind_t)(rand() % KINDS);
            steps[i].what = (unsigned)rand();
        }
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
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pool_and_model_go_the_same_way),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
