/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/* What a booting child tells of itself is believed once. */

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "spawner/boot.h"
#include "spawner/launch.h"
#include "spawner/process.h"
#include "tests/unit/scene.h"
#include "tests/unit/scratch.h"

static process_t *p;
static int child; /* its end of the pipe */

static int begin(void **state)
{
    (void)state;
    return loop_open() != 0 || registry_open(scratch_begin()->rt.fd) != 0;
}

static void ignore(void *owner, uint32_t events)
{
    (void)owner;
    (void)events;
}

static int fork_one(void **state)
{
    int ends[2];

    (void)state;
    p = process_new(spawner_state(), 7, "shop");
    if (!p || pipe2(ends, O_CLOEXEC | O_NONBLOCK) != 0)
        return -1;
    child = ends[1];
    p->is.pid = getpid();
    if (process_record(p, REGISTRY_BOOTING) != 0)
        return -1;
    return loop_add(&p->reports, ends[0], EPOLLIN, ignore, p);
}

static int forget(void **state)
{
    (void)state;
    close(child);
    loop_drop(&p->reports);
    p->done = 1;
    process_collect(spawner_state());
    return 0;
}

static void tell(uint32_t kind, uint32_t uid, const char *text)
{
    boot_report_t report = {.kind = kind, .uid = uid, .gid = uid};

    snprintf(report.text, sizeof report.text, "%s", text);
    assert_int_equal(write(child, &report, sizeof report), sizeof report);
    launch_read_reports(spawner_state(), p);
}

static void is(uint32_t uid, const char *user, const char *command)
{
    registry_record_t record;

    assert_int_equal(p->is.uid, uid);
    assert_int_equal(p->is.gid, uid);
    assert_string_equal(p->user, user);
    assert_string_equal(p->command ? p->command : "", command);
    assert_int_equal(registry_read(p->record, &record), REGISTRY_RECORD);
    assert_int_equal(record.uid, uid);
}

static void in_order(void **state)
{
    (void)state;
    tell(BOOT_USER, 1000, "shop");
    is(1000, "shop", "");
    tell(BOOT_COMMAND, 0, "serve");
    is(1000, "shop", "serve");
}

static void a_second_user(void **state)
{
    (void)state;
    tell(BOOT_USER, 1000, "shop");
    tell(BOOT_USER, 0, "root");
    is(1000, "shop", "");
}

static void a_user_after_the_command(void **state)
{
    (void)state;
    tell(BOOT_COMMAND, 0, "serve");
    tell(BOOT_USER, 0, "root");
    is(UINT32_MAX, "", "serve");
}

static void a_second_command(void **state)
{
    (void)state;
    tell(BOOT_USER, 1000, "shop");
    tell(BOOT_COMMAND, 0, "serve");
    tell(BOOT_COMMAND, 0, "other");
    is(1000, "shop", "serve");
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, fork_one, forget)

int main(void)
{
    const struct CMUnitTest tests[] = {TEST(in_order), TEST(a_second_user),
                                       TEST(a_user_after_the_command),
                                       TEST(a_second_command)};

    return cmocka_run_group_tests(tests, begin, scratch_end);
}
