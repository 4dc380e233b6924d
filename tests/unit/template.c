/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/* Which template an order gets, and what is read and written about it in the
 * segment. */

#include "spawner/template/template.h"

#include <string.h>

#include "shm/verbs/admin.h"
#include "shm/verbs/group_start.h"
#include "spawner/process/state.h"
#include "spawner/report/reports.h"
#include "base/contract.h"
#include "tests/unit/support/scene.h"

static const template_case_t ready = {.wanted = 1,
                                      .code = 5,
                                      .print = 7,
                                      .exists = 1,
                                      .ready = 1,
                                      .its_code = 5,
                                      .its_print = 7};

static void one_of_this_code_is_forked(void **state)
{
    template_case_t is = ready;

    (void)state;
    assert_int_equal(template_choose(&is), TEMPLATE_FORK);
    is.ready = 0;
    assert_int_equal(template_choose(&is), TEMPLATE_WAIT);
}

static void another_one_is_loaded(void **state)
{
    template_case_t is = ready;

    (void)state;
    is.exists = 0;
    assert_int_equal(template_choose(&is), TEMPLATE_LOAD);
    is = ready;
    is.its_code = 4;
    assert_int_equal(template_choose(&is), TEMPLATE_LOAD);
    is.ready = 0;
    assert_int_equal(template_choose(&is), TEMPLATE_LOAD);
    is = ready;
    is.its_print = 8;
    assert_int_equal(template_choose(&is), TEMPLATE_LOAD);
}

static void none_is_wanted(void **state)
{
    template_case_t is = ready;

    (void)state;
    is.wanted = 0;
    assert_int_equal(template_choose(&is), TEMPLATE_EXECUTE);
}

/* ---- one that fails ---- */

/* Of the app `a`, for which there is code 5 and configuration 7. */
static process_t failed(int step, int exit_code)
{
    return (process_t){
        .gone = 1,
        .is = {.name = "a", .print = 7},
        .start = {.command = (char *)(uintptr_t) "serve",
                  .failure = (char *)(uintptr_t) "it ended",
                  .step = step},
        .template = {.code = 5},
        .end = {.cause = {.si_code = CLD_EXITED, .si_status = exit_code}}};
}

static int is_forbidden(uint64_t code, uint64_t print)
{
    const app_entry_t a = {.app = {.name = "a"}, .print = print};

    return template_failure_forbids(&a, code);
}

/* The table of this spawner has no app, so all is forgotten. */
static spawner_t *spawner(void)
{
    static app_table_t table;
    static spawner_t s = {.table = &table};

    template_failure_sweep(&s);
    return &s;
}

static void two_failures_in_a_row_are_enough(void **state)
{
    static const int steps[] = {START_STEP_PREPARE, START_STEP_DIRECTORY,
                                START_STEP_COMMAND, START_STEP_BOOT,
                                START_STEP_READY};
    size_t i;

    (void)state;
    for (i = 0; i < sizeof steps / sizeof *steps; i++) {
        process_t t = failed(steps[i], 1);
        spawner_t *s = spawner();

        template_failure_to_load(s, &t);
        assert_false(is_forbidden(5, 7));
        template_failure_to_load(s, &t);
        assert_true(is_forbidden(5, 7));
        assert_false(is_forbidden(6, 7));
        assert_false(is_forbidden(5, 8));
    }
}

static void any_two_failures_make_a_row(void **state)
{
    process_t t = failed(START_STEP_BOOT, 1);
    spawner_t *s = spawner();

    (void)state;
    assert_false(template_failure_when_ready(s, &t));
    template_failure_to_load(s, &t);
    assert_true(is_forbidden(5, 7));
    assert_true(template_failure_when_ready(s, &t));
}

static void other_code_has_all_of_its_tries(void **state)
{
    process_t t = failed(START_STEP_BOOT, 1);
    spawner_t *s = spawner();

    (void)state;
    assert_false(template_failure_when_ready(s, &t));
    t.template.code = 6;
    assert_false(template_failure_when_ready(s, &t));
    t.is.print = 8;
    assert_false(template_failure_when_ready(s, &t));
    t.template.preload = CONTRACT_PRELOAD_AUTO;
    assert_false(template_failure_when_ready(s, &t));
    assert_true(template_failure_when_ready(s, &t));
}

/* A row that has ended is none. One that was too long stays. */
static void a_row_ends(void **state)
{
    process_t t = failed(START_STEP_BOOT, 1);
    spawner_t *s = spawner();

    (void)state;
    template_failure_row_ends("a");
    assert_false(template_failure_when_ready(s, &t));
    template_failure_row_ends("a");
    assert_false(template_failure_when_ready(s, &t));
    assert_true(template_failure_when_ready(s, &t));
    template_failure_row_ends("a");
    assert_true(is_forbidden(5, 7));
}

static void an_answer_is_final(void **state)
{
    process_t refuses = failed(START_STEP_BOOT, 69);
    process_t has_none = failed(START_STEP_COMMAND, 1);
    process_t exits = failed(START_STEP_COMMAND, 127);

    (void)state;
    template_failure_to_load(spawner(), &refuses);
    assert_true(is_forbidden(5, 7));
    has_none.start.command = NULL;
    template_failure_to_load(spawner(), &has_none);
    assert_true(is_forbidden(5, 7));
    template_failure_to_load(spawner(), &exits);
    assert_false(is_forbidden(5, 7));
}

static void orders_of_one_second_fail_together(void **state)
{
    spawner_t *s = spawner();
    process_t t = failed(START_STEP_BOOT, 0);

    (void)state;
    t.phase = PHASE_LIVE;
    s->now = 100 * SECOND;
    template_has_missed(s, &t);
    s->now += SECOND - 1;
    template_has_missed(s, &t);
    assert_int_equal(t.phase, PHASE_LIVE);
    assert_true(t.template.failed_at == 100 * SECOND);
}

/* ---- the segment ---- */

static apl_template_need_t need(scene_t *s, const apl_app_t *a)
{
    apl_template_need_t is;

    assert_int_equal(apl_template_need(&s->pool, a->name, &is), APR_SUCCESS);
    return is;
}

static void each_restart_is_new_code(void **state)
{
    scene_t *s = scene_new(2);
    apl_app_t *a = scene_app(s, "a");
    apl_session_ref_t h;
    apl_template_need_t is;
    uint64_t code;

    (void)state;
    assert_int_equal(apl_template_need(&s->pool, a->name, &is), APL_ESTALE);
    assert_int_equal(scene_get(s, &h, a), APR_SUCCESS);
    code = need(s, a).code;
    assert_true(need(s, a).usable);
    apl_admin_restart(&s->pool, a->name, 1, s->now);
    assert_true(need(s, a).code > code);
    code = need(s, a).code;
    apl_admin_restart(&s->pool, a->name, 0, s->now);
    assert_true(need(s, a).code > code);
    scene_close(s, &h);
    scene_end(s);
}

static void an_app_that_has_no_use_for_it(void **state)
{
    scene_t *s = scene_new(2);
    apl_app_t *a = scene_app(s, "a");
    apl_session_ref_t h;

    (void)state;
    assert_int_equal(scene_get(s, &h, a), APR_SUCCESS);
    scene_close(s, &h);
    s->pool.groups[1].stamp.always = 1;
    assert_false(need(s, a).usable);
    s->pool.groups[1].stamp.always = 0;
    assert_true(need(s, a).usable);
    assert_int_equal(apl_admin_drain(&s->pool, a, s->now), APR_SUCCESS);
    assert_false(need(s, a).usable);
    assert_int_equal(apl_admin_restart(&s->pool, a->name, -1, s->now),
                     APL_EDRAINED);
    assert_true(need(s, a).usable);
    scene_end(s);
}

static void the_figures_are_written(void **state)
{
    static const apl_template_t none;
    const apl_template_t is = {4711, APL_TEMPLATE_READY, 5, 6, 7, 8};
    scene_t *s = scene_new(2);
    apl_app_t *a = scene_app(s, "a");
    apl_session_ref_t h;

    (void)state;
    apl_template_write(&s->pool, a->name, &is); /* there is no such group */
    assert_int_equal(scene_get(s, &h, a), APR_SUCCESS);
    assert_memory_equal(&scene_group(s, a)->template, &none, sizeof none);
    apl_template_write(&s->pool, a->name, &is);
    assert_memory_equal(&scene_group(s, a)->template, &is, sizeof is);
    scene_close(s, &h);
    scene_end(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_of_this_code_is_forked),
        cmocka_unit_test(another_one_is_loaded),
        cmocka_unit_test(none_is_wanted),
        cmocka_unit_test(two_failures_in_a_row_are_enough),
        cmocka_unit_test(any_two_failures_make_a_row),
        cmocka_unit_test(other_code_has_all_of_its_tries),
        cmocka_unit_test(a_row_ends),
        cmocka_unit_test(an_answer_is_final),
        cmocka_unit_test(orders_of_one_second_fail_together),
        cmocka_unit_test(each_restart_is_new_code),
        cmocka_unit_test(an_app_that_has_no_use_for_it),
        cmocka_unit_test(the_figures_are_written),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
