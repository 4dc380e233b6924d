/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "tests/unit/support/keeper.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "store/server/mailbox.h"
#include "store/server/spaces.h"
#include "tests/unit/support/notes.h"
#include "tests/unit/support/temporary.h"

static shelf_t shelf;
shelf_t own;
static char directory[TEMPORARY_MAX];
int keeper_mailbox[2], asked;
store_save_files_t files;
int64_t late, told_at;

int __wrap_clock_gettime(clockid_t clock, struct timespec *t);
int __wrap_clock_gettime(clockid_t clock, struct timespec *t)
{
    (void)clock;
    t->tv_sec = 1000 + late / 1000;
    t->tv_nsec = late % 1000 * 1000000;
    return 0;
}

void __wrap_heartbeat(void);
void __wrap_heartbeat(void)
{
    late += STEP;
}

int64_t __wrap_store_stop_signal_at(void);
int64_t __wrap_store_stop_signal_at(void)
{
    return told_at;
}

void __wrap_store_stop_signal_progress(void);
void __wrap_store_stop_signal_progress(void)
{
    asked++;
}

int __wrap_store_stop_signal_came(void);
int __wrap_store_stop_signal_came(void)
{
    return told_at != 0;
}

static int watch(store_served_t *s)
{
    (void)s;
    return 0;
}

static void unwatch(store_served_t *s)
{
    (void)s;
}

static void describe(store_config_space_t *space, const char *name)
{
    snprintf(space->name, sizeof space->name, "%s", name);
    snprintf(space->key, sizeof space->key, "%s", name);
    space->size = 1 << 20;
    space->n_uids = 1;
    space->uids = calloc(1, sizeof *space->uids);
}

void serve(const char *name, const char *other)
{
    store_config_space_t space[2] = {0};
    store_config_t config = {.spaces = space, .n_spaces = other ? 2 : 1};

    describe(&space[0], name);
    if (other)
        describe(&space[1], other);
    store_spaces_apply(&config);
}

const char *key_of(unsigned i)
{
    static char key[16];

    snprintf(key, sizeof key, "key%u", i);
    return key;
}

int keeper_setup(void **state)
{
    static store_spaces_hooks_t hooks = {
        .directory = directory, .watch = watch, .unwatch = unwatch};
    unsigned i;

    (void)state;
    assert_non_null(temporary_dir(directory, "store-keep"));
    assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, keeper_mailbox), 0);
    file = memfd_create("save", MFD_CLOEXEC);
    files.fd[1] = memfd_create("save.2", MFD_CLOEXEC);
    store_mailbox_open(keeper_mailbox[0], keeper_mailbox[1]);
    shelf_open(&shelf, 16, 1);
    store_spaces_begin(&hooks);
    serve("shop", NULL);
    own.space = store_spaces_find("shop")->space;
    for (i = 0; i < VALUES; i++)
        assert_true(shelf_set(&own, key_of(i), i, LENGTH, 0));
    store_save_configure(TIME, 0);
    notes_clear();
    late = told_at = 0;
    return 0;
}

int keeper_teardown(void **state)
{
    (void)state;
    store_spaces_stop();
    while (store_spaces_list())
        store_spaces_forget(store_spaces_list());
    shelf_close(&shelf);
    close(keeper_mailbox[0]);
    close(keeper_mailbox[1]);
    close(file);
    close(files.fd[1]);
    return rmdir(directory);
}

void forget(void)
{
    unsigned i;

    for (i = 0; i < VALUES; i++)
        shelf_delete(&own, key_of(i));
}

unsigned count(void)
{
    unsigned i, n = 0;

    for (i = 0; i < VALUES; i++)
        n += (unsigned)shelf_get(&own, key_of(i), i, LENGTH);
    return n;
}
