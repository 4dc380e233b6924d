/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/* Which template an order gets. And what the segment says of it, and is told. */

#include "spawner/life/template.h"

#include <string.h>

#include "shm/verbs/admin.h"
#include "shm/verbs/template.h"
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

static void the_status_is_told(void **state)
{
    static const apl_template_t none;
    const apl_template_t is = {4711, APL_TEMPLATE_READY, 5, 6};
    scene_t *s = scene_new(2);
    apl_app_t *a = scene_app(s, "a");
    apl_session_ref_t h;

    (void)state;
    apl_template_tell(&s->pool, a->name, &is); /* nobody to be told of */
    assert_int_equal(scene_get(s, &h, a), APR_SUCCESS);
    assert_memory_equal(&scene_group(s, a)->template, &none, sizeof none);
    apl_template_tell(&s->pool, a->name, &is);
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
        cmocka_unit_test(each_restart_is_new_code),
        cmocka_unit_test(an_app_that_has_no_use_for_it),
        cmocka_unit_test(the_status_is_told),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
