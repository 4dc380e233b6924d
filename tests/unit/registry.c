/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/* The registry has one writer. The next spawner may continue with a copy. Also,
 * a heartbeat belongs to one program only. */

#include "spawner/process/registry.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/heartbeat.h"
#include "base/contract.h"
#include "tests/unit/support/scene.h"
#include "tests/unit/support/scratch.h"

#define N 3

static int place;

static int setup(void **state)
{
    (void)state;
    place = scratch_begin()->rt.fd;
    return 0;
}

static void write_records(uint32_t pid)
{
    registry_record_t is;
    uint32_t i;

    memset(&is, 0, sizeof is);
    is.magic = REGISTRY_MAGIC;
    is.state = REGISTRY_LIVE;
    is.pid = (int32_t)pid;
    for (i = 0; i < N; i++) {
        is.id = i + 1;
        assert_int_equal(registry_write(i, &is), 0);
    }
}

/* Another spawner: it has the registry, and writes once more after a byte from
 * the test. Then it ends. */
static pid_t other(int tell[2])
{
    int ready[2];
    char byte;
    pid_t pid;

    assert_int_equal(pipe(tell) | pipe(ready), 0);
    pid = fork();
    if (pid == 0) {
        alarm(300);
        close(tell[1]);
        if (registry_open(place) != 0)
            _exit(1);
        write_records(1000);
        if (write(ready[1], "", 1) != 1 || read(tell[0], &byte, 1) != 1)
            _exit(1);
        write_records(2000);
        _exit(0);
    }
    assert_int_equal(read(ready[0], &byte, 1), 1);
    return pid;
}

static void goes_on_with_a_copy(void **state)
{
    registry_record_t is;
    int tell[2], status;
    pid_t pid = other(tell);
    uint32_t i;

    (void)state;
    assert_int_equal(registry_open(place), -1);
    assert_true(errno == EAGAIN || errno == EACCES);
    assert_int_equal(registry_owner(), pid);
    assert_int_equal(registry_copy(place), 0);
    assert_int_equal(write(tell[1], "", 1), 1);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
    /* What the old one has written since has no effect. */
    for (i = 0; i < N; i++) {
        assert_int_equal(registry_read(i, &is), REGISTRY_RECORD);
        assert_int_equal(is.id, i + 1);
        assert_int_equal(is.pid, 1000);
    }
    assert_int_equal(registry_read(N, &is), REGISTRY_END);
    /* The copy has the name, and is locked. */
    pid = fork();
    if (pid == 0)
        _exit(registry_open(place) == 0 ? 1 : errno == EAGAIN ? 0 : 2);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
}

/* Another one has put its copy there, and has ended since. */
static void opens_what_has_the_name_by_now(void **state)
{
    registry_record_t is;
    int fd;

    (void)state;
    assert_int_equal(registry_open(place), 0);
    write_records(1000);
    fd = openat(place, "other", O_WRONLY | O_CREAT, 0600);
    assert_true(fd >= 0);
    close(fd);
    assert_int_equal(renameat(place, "other", place, CONTRACT_REGISTRY), 0);
    assert_int_equal(registry_open(place), 0);
    assert_int_equal(registry_read(0, &is), REGISTRY_END);
}

/* A damaged record must not make the spawner believe that a process is gone. */
static void only_of_a_template_the_output_is_left(void **state)
{
    registry_record_t is;

    (void)state;
    assert_int_equal(registry_open(place), 0);
    write_records(1000);
    assert_int_equal(registry_read(0, &is), REGISTRY_RECORD);
    for (is.kind = 0; is.kind <= REGISTRY_TEMPLATE; is.kind++)
        for (is.output_only = 0; is.output_only <= 2; is.output_only++) {
            registry_record_t found;

            assert_int_equal(registry_write(0, &is), 0);
            assert_int_equal(
                registry_read(0, &found),
                is.output_only == 0 ||
                        (is.output_only == 1 && is.kind == REGISTRY_TEMPLATE)
                    ? REGISTRY_RECORD
                    : REGISTRY_BROKEN);
        }
}

static void set_time(const char *name, time_t s)
{
    struct timespec times[2] = {{s, 0}, {s, 0}};

    assert_int_equal(utimensat(place, name, times, 0), 0);
}

static void looks_without_a_beat(void **state)
{
    static const char name[] = CONTRACT_SPAWNER_HEARTBEAT;
    heartbeat_t pulse;
    ino_t first;

    (void)state;
    memset(&pulse, 0, sizeof pulse);
    assert_int_equal(heartbeat_check(&pulse, place, name), 1);
    assert_int_equal(pulse.inode, 0);
    heartbeat_begin(place, name);
    assert_int_equal(heartbeat_check(&pulse, place, name), 0);
    assert_int_equal(heartbeat_check(&pulse, place, name), 1);
    assert_int_equal(heartbeat_check(&pulse, place, name), 2);
    set_time(name, 1); /* a step back is a beat, too: the clock was set */
    assert_int_equal(heartbeat_check(&pulse, place, name), 0);
    assert_int_equal(heartbeat_check(&pulse, place, name), 1);
    first = pulse.inode;
    renameat(place, name, place, "kept"); /* so that its number is taken */
    heartbeat_begin(place, name);
    set_time(name, 1); /* another program's file, with the same time */
    assert_int_equal(heartbeat_check(&pulse, place, name), 0);
    assert_true(pulse.inode != first);
    set_time("kept", 5);
    assert_int_equal(heartbeat_check(&pulse, place, name), 1);
}

/* Its name is in use, which has the same effect as a full disk. */
static void beats_with_the_old_file(void **state)
{
    static const char name[] = CONTRACT_WATCHDOG_HEARTBEAT;
    heartbeat_t pulse;
    ino_t first;

    (void)state;
    memset(&pulse, 0, sizeof pulse);
    heartbeat_begin(place, name);
    set_time(name, 1);
    heartbeat_check(&pulse, place, name);
    first = pulse.inode;
    assert_int_equal(linkat(place, name, place, "old", 0), 0);
    assert_int_equal(mkdirat(place, CONTRACT_WATCHDOG_HEARTBEAT ".new", 0700),
                     0);
    heartbeat_begin(place, name);
    assert_int_equal(heartbeat_check(&pulse, place, name), 0);
    assert_int_equal(pulse.inode, first);
    /* There is no old one either. */
    assert_int_equal(unlinkat(place, name, 0), 0);
    heartbeat_begin(place, name);
    heartbeat_check(&pulse, place, name);
    assert_int_equal(pulse.inode, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(goes_on_with_a_copy),
        cmocka_unit_test(opens_what_has_the_name_by_now),
        cmocka_unit_test(only_of_a_template_the_output_is_left),
        cmocka_unit_test(looks_without_a_beat),
        cmocka_unit_test(beats_with_the_old_file),
    };

    return cmocka_run_group_tests(tests, setup, scratch_end);
}
