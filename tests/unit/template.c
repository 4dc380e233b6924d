/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/* Which template an order gets, and what is read and written about it in the
 * segment. */

#include "spawner/life/template.h"

#include <string.h>

#include "shm/verbs/admin.h"
#include "shm/verbs/template.h"
#include "spawner/child/start_step.h"
#include "spawner/life/template_failure.h"
#include "spawner/life/template_note.h"
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

/* Only for the code and the configuration that could not be loaded. */
static void none_could_be_loaded(void **state)
{
    template_case_t is = ready;

    (void)state;
    is.refused = 1;
    is.refused_code = 5;
    is.refused_print = 7;
    assert_int_equal(template_choose(&is), TEMPLATE_EXECUTE);
    is.exists = 0;
    assert_int_equal(template_choose(&is), TEMPLATE_EXECUTE);
    is.refused_code = 4;
    assert_int_equal(template_choose(&is), TEMPLATE_LOAD);
    is.refused_code = 5;
    is.refused_print = 8;
    assert_int_equal(template_choose(&is), TEMPLATE_LOAD);
    is.refused = 0;
    is.refused_print = 7;
    assert_int_equal(template_choose(&is), TEMPLATE_LOAD);
}

/* ---- one that could not be loaded ---- */

/* Nobody waits for a second start that fails in the same way. */
static void its_code_does_not_load(void **state)
{
    (void)state;
    assert_int_equal(template_failure_means(START_STEP_BOOT, 70, 0),
                     TEMPLATE_FAILURE_BROKEN);
    /* A process that was executed proves the contrary. */
    assert_int_equal(template_failure_means(START_STEP_BOOT, 70, 1),
                     TEMPLATE_FAILURE_REFUSED);
}

static void it_may_be_no_template(void **state)
{
    static const int codes[] = {-1, 0, 1, 69, 71, 255};
    size_t i;

    (void)state;
    for (i = 0; i < sizeof codes / sizeof *codes; i++)
        assert_int_equal(template_failure_means(START_STEP_BOOT, codes[i], 0),
                         TEMPLATE_FAILURE_REFUSED);
    assert_int_equal(template_failure_means(START_STEP_READY, -1, 0),
                     TEMPLATE_FAILURE_REFUSED);
    assert_int_equal(template_failure_means(START_STEP_COMMAND, 127, 0),
                     TEMPLATE_FAILURE_REFUSED);
    assert_int_equal(template_failure_means(START_STEP_COMMAND, -1, 0),
                     TEMPLATE_FAILURE_REFUSED);
}

/* A lack of memory passes. */
static void its_command_was_not_run(void **state)
{
    int step;

    (void)state;
    for (step = START_STEP_PREPARE; step < START_STEP_COMMAND; step++)
        assert_int_equal(template_failure_means(step, -1, 0),
                         TEMPLATE_FAILURE_AGAIN);
}

static void what_is_remembered(void **state)
{
    process_t t = {.is = {.name = "a", .print = 7}, .template = {.code = 5}};
    const template_note_t *n;

    (void)state;
    assert_null(template_note_find("a"));
    template_note_executed("a");
    template_note_broken(&t, 100);
    n = template_note_find("a");
    assert_int_equal(n->says, TEMPLATE_NOTE_BROKEN);
    assert_true(n->code == 5 && n->print == 7 && n->broken_at == 100);
    template_note_executed("a");
    assert_int_equal(n->says, TEMPLATE_NOTE_NOTHING);
    assert_int_equal(n->broken_at, 100);
    t.template.code = 6; /* what was executed then says nothing of this */
    template_note_refuse(&t);
    assert_int_equal(n->says, TEMPLATE_NOTE_REFUSED);
    assert_true(n->code == 6 && n->broken_at == 0);
    template_note_executed("a");
    assert_int_equal(n->says, TEMPLATE_NOTE_REFUSED);
}

static void it_dies_again_and_again(void **state)
{
    process_t t = {.is = {.name = "b"}};

    (void)state;
    assert_int_equal(template_note_death(&t, 10 * SECOND), 0);
    assert_int_equal(template_note_death(&t, 20 * SECOND), 0);
    assert_int_equal(template_note_death(&t, 71 * SECOND), 0);
    assert_int_equal(template_note_death(&t, 79 * SECOND), 1);
    assert_int_equal(template_note_find("b")->says, TEMPLATE_NOTE_REFUSED);
    assert_int_equal(template_note_death(&t, 80 * SECOND), 0);
}

static void it_forks_nothing_again_and_again(void **state)
{
    process_t t = {.is = {.name = "c", .print = 7}, .template = {.code = 5}};

    (void)state;
    assert_int_equal(template_note_fruitless(&t), 0);
    template_note_forked(&t);
    assert_int_equal(template_note_fruitless(&t), 0);
    t.template.code = 6; /* new code has all of its tries */
    assert_int_equal(template_note_fruitless(&t), 0);
    assert_int_equal(template_note_find("c")->says, TEMPLATE_NOTE_NOTHING);
    assert_int_equal(template_note_fruitless(&t), 1);
    assert_int_equal(template_note_find("c")->says, TEMPLATE_NOTE_REFUSED);
    assert_true(template_note_find("c")->code == 6);
}

static void orders_of_one_second_fail_together(void **state)
{
    spawner_t s = {.now = 100 * SECOND};
    process_t t = {.phase = PHASE_LIVE};

    (void)state;
    template_has_missed(&s, &t);
    s.now += SECOND - 1;
    template_has_missed(&s, &t);
    assert_int_equal(t.template.missed, 1);
    assert_int_equal(t.phase, PHASE_LIVE);
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
    const apl_template_t is = {4711, APL_TEMPLATE_READY, 5, 6, 7};
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
        cmocka_unit_test(none_could_be_loaded),
        cmocka_unit_test(its_code_does_not_load),
        cmocka_unit_test(it_may_be_no_template),
        cmocka_unit_test(its_command_was_not_run),
        cmocka_unit_test(what_is_remembered),
        cmocka_unit_test(it_dies_again_and_again),
        cmocka_unit_test(it_forks_nothing_again_and_again),
        cmocka_unit_test(orders_of_one_second_fail_together),
        cmocka_unit_test(each_restart_is_new_code),
        cmocka_unit_test(an_app_that_has_no_use_for_it),
        cmocka_unit_test(the_figures_are_written),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
