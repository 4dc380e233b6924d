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
static int child;       /* its end of the pipe */
static apl_wire_t wire; /* that the segment was told */
static int configured;  /* its app was changed */

apr_status_t __wrap_apl_supervise_born(apl_pool_t *pool, uint64_t id,
                                       apl_who_t who, apl_wire_t is,
                                       int64_t now);
apr_status_t __wrap_apl_supervise_configure(apl_pool_t *pool,
                                            const apl_app_t *app, int prestart,
                                            int64_t now);

apr_status_t __wrap_apl_supervise_born(apl_pool_t *pool, uint64_t id,
                                       apl_who_t who, apl_wire_t is,
                                       int64_t now)
{
    (void)pool;
    (void)now;
    assert_int_equal(id, 7);
    assert_int_equal(who.pid, getpid());
    wire = is;
    return APR_SUCCESS;
}

apr_status_t __wrap_apl_supervise_configure(apl_pool_t *pool,
                                            const apl_app_t *app, int prestart,
                                            int64_t now)
{
    (void)pool;
    (void)app;
    (void)prestart;
    (void)now;
    configured = 1;
    return APR_SUCCESS;
}

static int begin(void **state)
{
    static table_app_t app = {.app = {.name = "shop"}};
    static table_t table;

    (void)state;
    table.by_name = apr_hash_make(scratch_begin()->pool);
    apr_hash_set(table.by_name, "shop", APR_HASH_KEY_STRING, &app);
    table.apps = &app;
    spawner_state()->table = &table;
    return loop_open() != 0 || registry_open(spawner_state()->rt.fd) != 0;
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
    boot_report_t report = {.kind = kind,
                            .uid = uid,
                            .gid = uid,
                            .protocol = APL_FCGI,
                            .concurrency = 5};

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

/* Also what it speaks, and how many requests it takes. That holds for its app
 * when it is ready, and not before: the start may fail. */
static void what_was_found(void **state)
{
    registry_record_t record;

    (void)state;
    spawner_state()->table->apps->app.options.concurrency =
        APL_CONCURRENCY_AUTO;
    tell(BOOT_COMMAND, 0, "serve");
    assert_int_equal(wire.protocol, APL_FCGI);
    assert_int_equal(wire.shared, 1);
    assert_int_equal(registry_read(p->record, &record), REGISTRY_RECORD);
    assert_memory_equal(&record.wire, &wire, sizeof wire);
    assert_int_equal(record.concurrency, 5);
    assert_int_equal(configured, 0);
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
    const struct CMUnitTest tests[] = {
        TEST(in_order), TEST(what_was_found), TEST(a_second_user),
        TEST(a_user_after_the_command), TEST(a_second_command)};

    return cmocka_run_group_tests(tests, begin, scratch_end);
}
