/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/* What processes use: CPU time is counted once, whatever happens to them. */

#include <string.h>

#include "spawner/process/sid_scan.h"
#include "spawner/report/reports.h"
#include "tests/unit/support/scene.h"

static int asked;

/* The scan of all processes. */
void sid_scan_measure(spawner_t *s, process_t *p, int what)
{
    (void)s;
    (void)p;
    assert_int_equal(what, MEASURE_USAGE);
    asked++;
}

typedef struct {
    scene_t *scene;
    spawner_t s;
    process_t p;
} stage_t;

/* An app with one process. */
static void begin(stage_t *g)
{
    apl_session_ref_t hold;
    apl_app_t *a;

    memset(g, 0, sizeof *g);
    g->scene = scene_new(1);
    a = scene_app(g->scene, "a");
    assert_int_equal(scene_get(g->scene, &hold, a), APR_SUCCESS);
    g->s.shm = g->scene->pool;
    g->s.processes = &g->p;
    g->p.is.id = hold.id;
    g->p.is.pid = 4711;
    asked = 0;
}

/* The next step, in which the scan finds this much CPU time. */
static void look(stage_t *g, int64_t seconds)
{
    static int64_t now = 1000 * SECOND; /* usage.c knows the last step */

    now += APL_STEP_PERIOD;
    g->s.now = now;
    usage_check(&g->s);
    g->p.usage.measured = 1;
    g->p.usage.memory = 5 << 20;
    g->p.usage.cpu = (uint64_t)(seconds * SECOND);
    g->s.now += SECOND;
    usage_check(&g->s);
    usage_check(&g->s);
}

static int64_t counted(const stage_t *g)
{
    return (int64_t)g->scene->pool.numbers[1].cpu / SECOND;
}

static void each_second_is_counted_once(void **state)
{
    stage_t g;
    const apl_step_t *step;

    (void)state;
    begin(&g);
    look(&g, 5);
    assert_int_equal(asked, 1);
    assert_int_equal(counted(&g), 5);
    look(&g, 7);
    assert_int_equal(counted(&g), 7);
    look(&g, 6); /* one of its workers is gone, and nobody has waited for it */
    assert_int_equal(counted(&g), 7);
    look(&g, 8);
    assert_int_equal(counted(&g), 9);
    step =
        &g.scene->pool.numbers[1].steps[g.s.now / APL_STEP_PERIOD % APL_STEPS];
    assert_int_equal(step->time, g.s.now);
    assert_int_equal(step->memory, 5 << 10);
    assert_int_equal(step->cpu, 2000);
    assert_int_equal(step->busy, 1);
    usage_end(&g.s, &g.p, 11 * SECOND);
    assert_int_equal(counted(&g), 12);
    usage_end(&g.s, &g.p, 0); /* not known */
    assert_int_equal(counted(&g), 12);
    scene_end(g.scene);
}

/* The last spawner has counted what it used before. */
static void an_adopted_process_begins_with_the_first_look(void **state)
{
    stage_t g;

    (void)state;
    begin(&g);
    g.p.adopted_at = 1;
    look(&g, 100);
    assert_int_equal(counted(&g), 0);
    look(&g, 103);
    assert_int_equal(counted(&g), 3);
    scene_end(g.scene);
}

static void what_has_no_place_is_not_measured(void **state)
{
    stage_t g;

    (void)state;
    begin(&g);
    g.p.is.kind = REGISTRY_TEMPLATE;
    look(&g, 5);
    usage_end(&g.s, &g.p, 6 * SECOND);
    g.p.is.kind = 0;
    g.p.gone = 1;
    look(&g, 5);
    assert_int_equal(asked, 0);
    assert_int_equal(counted(&g), 0);
    g.p.gone = 0;
    g.p.is.id++; /* the pool has given its place to another one */
    look(&g, 5);
    assert_int_equal(counted(&g), 0);
    scene_end(g.scene);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_second_is_counted_once),
        cmocka_unit_test(an_adopted_process_begins_with_the_first_look),
        cmocka_unit_test(what_has_no_place_is_not_measured),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
