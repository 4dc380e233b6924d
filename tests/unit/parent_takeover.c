/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/* Which store a new instance takes over, and how it tells that one to end. The
 * log and the list of instances are played here. */

#include "mod_apppool/parent/store_takeover.h"

#include <httpd.h>

#include <fcntl.h>
#include <http_log.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/stat.h>
#include <unistd.h>

#include "mod_apppool/parent/instance_list.h"
#include "base/contract.h"
#include "tests/unit/support/scene.h"

server_rec *ap_server_conf;
module apppool_module;
static int lines;

void ap_log_error_(const char *file, int line, int index, int level,
                   apr_status_t status, const server_rec *s, const char *fmt,
                   ...)
{
    (void)file;
    (void)line;
    (void)index;
    (void)level;
    (void)status;
    (void)s;
    (void)fmt;
    lines++;
}

int apppool_instance_list_is_open(const apppool_retained_t *r)
{
    return r->runtime[0] != 0;
}

static apppool_retained_t old, older, own;
static apppool_store_parts_t parts;
static char directory[] = "/tmp/apppool-takeover-XXXXXX";

static void path_of(const char *name, char to[128])
{
    snprintf(to, 128, "%s/%s", directory, name);
}

/* An instance that has a store. */
static void describe(apppool_retained_t *r)
{
    memset(r, 0, sizeof *r);
    r->size = sizeof *r;
    snprintf(r->runtime, sizeof r->runtime, "%s", directory);
    r->store_format = CONTRACT_STORE_FORMAT;
    r->store_items = r->store_mailbox = r->store_mailbox_end = 0;
    r->store_bell = eventfd(0, EFD_NONBLOCK);
}

static int setup(void **state)
{
    char path[128];
    int fd;

    (void)state;
    strcpy(directory + strlen(directory) - 6, "XXXXXX");
    assert_non_null(mkdtemp(directory));
    path_of(CONTRACT_STORES, path);
    assert_int_equal(mkdir(path, 0700), 0);
    path_of(CONTRACT_STORE_TABLE, path);
    fd = open(path, O_CREAT | O_WRONLY, 0600);
    assert_true(fd >= 0);
    close(fd);
    describe(&old);
    describe(&older);
    memset(&own, 0, sizeof own);
    own.older = &old;
    old.older = &older;
    parts.items = parts.mailbox = parts.mailbox_end = -1;
    lines = 0;
    return 0;
}

static int teardown(void **state)
{
    char path[128];

    (void)state;
    close(old.store_bell);
    close(older.store_bell);
    if (parts.items >= 0) {
        close(parts.items);
        close(parts.mailbox);
        close(parts.mailbox_end);
    }
    path_of(CONTRACT_STORE_TABLE, path);
    unlink(path);
    path_of(CONTRACT_STORES, path);
    rmdir(path);
    return rmdir(directory);
}

/* Its table goes before its bell rings. If the new instance fails later, the
 * next one finds the same store. */
static void the_newest_store_is_taken(void **state)
{
    char path[128];
    uint64_t rings = 0;

    (void)state;
    assert_ptr_equal(apppool_store_takeover(&own, &parts), &old);
    assert_true(parts.items > 0 && parts.mailbox > 0 && parts.mailbox_end > 0);
    assert_int_equal(lines, 0);
    assert_int_equal(read(old.store_bell, &rings, sizeof rings), -1);
    assert_int_equal(apppool_store_takeover_tell(&old), 0);
    path_of(CONTRACT_STORE_TABLE, path);
    assert_int_equal(access(path, F_OK), -1);
    assert_int_equal(read(old.store_bell, &rings, sizeof rings), 8);
    assert_int_equal(rings, 1);
    assert_int_equal(lines, 1);
    assert_ptr_equal(apppool_store_takeover(&own, &parts), &old);
    assert_int_equal(apppool_store_takeover_tell(&old), 0);
}

static void an_instance_without_a_store_is_passed_over(void **state)
{
    (void)state;
    old.store_format = 0; /* although there is a table */
    assert_ptr_equal(apppool_store_takeover(&own, &parts), &older);
    assert_int_equal(lines, 0);
}

static void an_instance_that_has_ended_is_passed_over(void **state)
{
    (void)state;
    old.runtime[0] = 0;
    assert_ptr_equal(apppool_store_takeover(&own, &parts), &older);
    older.runtime[0] = 0;
    parts.items = parts.mailbox = parts.mailbox_end = -1;
    assert_null(apppool_store_takeover(&own, &parts));
    assert_int_equal(apppool_store_takeover_tell(&old), 0);
    assert_int_equal(lines, 0);
}

/* The new store begins empty. One line says so. */
static void another_format_is_not_taken(void **state)
{
    (void)state;
    old.store_format = CONTRACT_STORE_FORMAT + 1;
    assert_null(apppool_store_takeover(&own, &parts));
    assert_int_equal(lines, 1);
    assert_int_equal(parts.items, -1);
}

/* A build before has less in its struct. It has a store where it has a table. */
static void an_old_build_is_not_taken(void **state)
{
    (void)state;
    old.size = offsetof(apppool_retained_t, store_bell);
    assert_null(apppool_store_takeover(&own, &parts));
    assert_int_equal(lines, 1);
    assert_int_equal(apppool_store_takeover_tell(&older), 0); /* no table now */
    assert_ptr_equal(apppool_store_takeover(&own, &parts), &older);
    assert_int_equal(lines, 2); /* the second is of the older one */
}

/* The parts that the instance has made stay. */
static void without_descriptors_nothing_is_taken(void **state)
{
    (void)state;
    old.store_mailbox_end = -1;
    parts.items = 100;
    assert_null(apppool_store_takeover(&own, &parts));
    assert_int_equal(parts.items, 100);
    assert_int_equal(lines, 1);
    parts.items = -1;
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
    static const struct CMUnitTest tests[] = {
        TEST(the_newest_store_is_taken),
        TEST(an_instance_without_a_store_is_passed_over),
        TEST(an_instance_that_has_ended_is_passed_over),
        TEST(another_format_is_not_taken),
        TEST(an_old_build_is_not_taken),
        TEST(without_descriptors_nothing_is_taken),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
