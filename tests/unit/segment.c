/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/* The segment is shared by descriptor, and is never cut short. */

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "shm/slots/group.h"
#include "shm/view/view.h"
#include "shm/view/snapshot.h"
#include "tests/unit/support/memory.h"
#include "tests/unit/support/scene.h"
#include "shm/format/segment.h"

static void another_process_attaches(void **state)
{
    const apl_capacity_t n = {10, 20, 30, 4}, more = {10, 20, 3000, 4};
    const apl_capacity_t fewer = {10, 20, 29, 4};
    apl_pool_t a, b;
    int pipe_ends[2];

    (void)state;
    assert_int_equal(apl_segment_create(&a, &n), APR_SUCCESS);
    assert_int_equal((uintptr_t)a.base % 64, 0);
    assert_int_equal(apl_segment_attach(&b, dup(a.file), &n), APR_SUCCESS);
    assert_ptr_not_equal(a.base, b.base);
    assert_int_equal(apl_configure_limits(&a, 7, 1, 1), APR_SUCCESS);
    assert_int_equal(b.header->max, 7);
    apl_segment_close(&b);
    /* Values that another process wrote there decide nothing. */
    memset(a.header, 0xff, offsetof(apl_header_t, lock));
    assert_int_equal(apl_segment_attach(&b, dup(a.file), &n), APR_SUCCESS);
    assert_int_equal(b.header->layout, APL_LAYOUT);
    assert_int_equal(b.n.sessions, 31);
    apl_segment_close(&b);
    assert_int_equal(apl_segment_attach(&b, a.file, &more), APL_EFOREIGN);
    assert_int_equal(apl_segment_attach(&b, a.file, &fewer), APL_EFOREIGN);
    assert_int_equal(pipe(pipe_ends), 0);
    assert_int_equal(apl_segment_attach(&b, pipe_ends[0], &n), APL_EFOREIGN);
    close(pipe_ends[0]);
    close(pipe_ends[1]);
    apl_segment_close(&a);
    assert_int_not_equal(apl_segment_attach(&b, 1000, &n), APR_SUCCESS);
}

/* A shorter file would end the process by SIGBUS. */
static void the_segment_cannot_be_truncated(void **state)
{
    const apl_capacity_t n = {10, 20, 30, 4};
    apl_pool_t a;

    (void)state;
    assert_int_equal(apl_segment_create(&a, &n), APR_SUCCESS);
    assert_int_equal(ftruncate(a.file, 0), -1);
    assert_int_equal(errno, EPERM);
    /* A hole in it is filled with zeros when it is touched. */
    assert_int_equal(madvise(a.base, a.size, MADV_REMOVE), 0);
    assert_int_equal(a.header->magic, 0);
    a.header->magic = 1;
    apl_segment_close(&a);
    assert_int_equal(a.file, -1);
}

static void a_capacity_may_be_too_large(void **state)
{
    const apl_capacity_t n = {10, APL_PROCESSES_MAX + 1, 30, 4};
    apl_pool_t a;

    (void)state;
    assert_int_equal(apl_segment_create(&a, &n), APR_EINVAL);
}

static void indexes_out_of_bounds_lead_nowhere(void **state)
{
    scene_t *s = scene_new(1);

    (void)state;
    assert_null(apl_group_at(&s->pool, 0));
    assert_null(apl_group_at(&s->pool, s->pool.n.groups));
    assert_null(apl_process_at(&s->pool, UINT32_MAX));
    assert_null(apl_session_at(&s->pool, s->pool.n.sessions));
    assert_null(apl_child_at(&s->pool, 0));
    assert_non_null(apl_child_at(&s->pool, s->pool.n.children - 1));
    scene_end(s);
}

static void the_report_tells_what_is_there(void **state)
{
    scene_t *s = scene_new(3);
    apl_app_t *a = scene_app(s, "a");
    apl_request_t r = {"GET", "/x\xff/y", "127.0.0.1", NULL, 0};
    apl_session_ref_t h1, h2, h3;
    apl_pool_t *copy;
    json_t *j, *group;

    (void)state;
    a->options.max_instances = 2;
    assert_int_equal(scene_get(s, &h1, a), APR_SUCCESS);
    assert_int_equal(scene_get(s, &h2, a), APR_SUCCESS);
    assert_int_equal(apl_checkout(&s->pool, &h3, a, &r, NULL, s->now),
                     APL_EWAIT);
    scene_ask(s, &h3, a);
    assert_int_equal(apl_snapshot_take(&copy, &s->pool, memory), APR_SUCCESS);
    j = apl_report_json(copy, 0);
    assert_non_null(j);
    group = json_array_get(json_object_get(j, "groups"), 0);
    assert_int_equal(json_array_size(json_object_get(group, "processes")), 2);
    assert_int_equal(json_array_size(json_object_get(group, "requests")), 4);
    assert_string_equal(
        json_string_value(json_object_get(
            json_array_get(json_object_get(group, "requests"), 2), "uri")),
        "/x?/y");
    assert_int_equal(json_integer_value(json_object_get(
                         json_object_get(j, "pool"), "waiting")),
                     2);
    assert_int_equal(json_array_size(json_object_get(j, "events")), 2);
    json_decref(j);
    scene_end(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(another_process_attaches),
        cmocka_unit_test(the_segment_cannot_be_truncated),
        cmocka_unit_test(a_capacity_may_be_too_large),
        cmocka_unit_test(indexes_out_of_bounds_lead_nowhere),
        cmocka_unit_test(the_report_tells_what_is_there),
    };

    return cmocka_run_group_tests(tests, memory_begin, memory_end);
}
