/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/* The store is started where there is a table. It is started again when it ends,
 * until it is stopped. */

#include "watchdog/store_watch.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/contract.h"
#include "tests/unit/support/scene.h"
#include "tests/unit/support/scratch.h"

#define NAME "/x/apppool-watchdog"

static spawner_t *scratch;

static int setup(void **state)
{
    (void)state;
    scratch = scratch_begin();
    return 0;
}

static void put_file(const char *name, const char *text)
{
    int fd = openat(scratch->rt.fd, name, O_WRONLY | O_CREAT | O_TRUNC, 0600);

    assert_true(fd >= 0);
    assert_int_equal(write(fd, text, strlen(text)), strlen(text));
    close(fd);
}

static void put_table(void)
{
    assert_int_equal(mkdirat(scratch->rt.fd, CONTRACT_STORES, 0700), 0);
    put_file(CONTRACT_STORE_TABLE, "{}");
}

static void begin_store(store_watch_t *s)
{
    store_watch_begin(s, scratch->rt.dir, scratch->rt.fd, NAME);
}

static void await_store(const store_watch_t *s)
{
    siginfo_t info;

    assert_int_equal(waitid(P_PID, (id_t)s->ward.pid, &info, WEXITED | WNOWAIT),
                     0);
}

/* As long as it may write its file. */
static void a_stop_takes_as_long_as_is_configured(void **state)
{
    static const struct {
        const char *target;
        int checks;
    } cases[] = {{"5", 5 + CONTRACT_STORE_REST},
                 {"3600", 3600 + CONTRACT_STORE_REST},
                 {"3601", CONTRACT_STORE_STOP},
                 {"-1", CONTRACT_STORE_STOP},
                 {"a text", CONTRACT_STORE_STOP}};
    store_watch_t s;
    size_t i;

    (void)state;
    begin_store(&s);
    store_watch_stop(&s, 1);
    assert_int_equal(s.ward.stop_checks, CONTRACT_STORE_STOP);
    for (i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_int_equal(symlinkat(cases[i].target, scratch->rt.fd,
                                   CONTRACT_STORE_SAVE_TIME),
                         0);
        store_watch_stop(&s, 1);
        assert_int_equal(s.ward.stop_checks, cases[i].checks);
        assert_int_equal(unlinkat(scratch->rt.fd, CONTRACT_STORE_SAVE_TIME, 0),
                         0);
    }
}

static void without_a_table_there_is_no_store(void **state)
{
    store_watch_t s;

    (void)state;
    scratch_program(CONTRACT_STORE_PROGRAM_FD, "#!/bin/sh\nexit 0\n");
    begin_store(&s);
    store_watch_look(&s, 1);
    store_watch_tick(&s, 2);
    assert_false(store_watch_runs(&s));
    put_table();
    store_watch_tick(&s, 3);
    assert_false(store_watch_runs(&s));
    store_watch_look(&s, 4);
    store_watch_tick(&s, 5);
    assert_true(store_watch_runs(&s));
    await_store(&s);
    waitpid(s.ward.pid, NULL, 0);
}

/* A store whose exit code is in a file: it has ended with 75. @return its pid */
static pid_t run_for_another_role(store_watch_t *s)
{
    scratch_program(CONTRACT_STORE_PROGRAM_FD, "#!/bin/sh\nread code <code\n"
                                               "exit $code\n");
    assert_int_equal(fchdir(scratch->rt.fd), 0);
    put_table();
    put_file("code", "75\n");
    begin_store(s);
    store_watch_look(s, 1);
    store_watch_tick(s, 1);
    await_store(s);
    return s->ward.pid;
}

/* It ends, and the next one begins: after a death and after exit code 75, but
 * not after exit code 78 or 76, or when it was stopped. */
static void the_store_is_started_again(void **state)
{
    store_watch_t s;
    pid_t first;

    (void)state;
    first = run_for_another_role(&s);
    put_file("code", "1\n");
    store_watch_tick(&s, 2);
    assert_true(store_watch_runs(&s));
    assert_int_not_equal(s.ward.pid, first);
    await_store(&s);
    put_file("code", "78\n");
    store_watch_tick(&s, 3);
    assert_true(store_watch_runs(&s));
    await_store(&s);
    store_watch_tick(&s, 4);
    store_watch_tick(&s, 1000000);
    assert_false(store_watch_runs(&s));
    assert_int_equal(scratch_lines("store "), 2);
    put_file("code", "76\n");
    store_watch_look(&s, 4);
    store_watch_tick(&s, 1000000);
    await_store(&s);
    store_watch_tick(&s, 1000001);
    store_watch_tick(&s, 2000000);
    assert_false(store_watch_runs(&s));
    assert_int_equal(scratch_lines("store "), 2); /* it is no error */
    store_watch_look(&s, 5);
    store_watch_tick(&s, 5);
    assert_true(store_watch_runs(&s));
    store_watch_stop(&s, 6);
    await_store(&s);
    store_watch_tick(&s, 7);
    store_watch_look(&s, 8);
    store_watch_tick(&s, 1000000);
    assert_false(store_watch_runs(&s));
}

/* What it holds is in memory and not on the disk yet. */
static void a_dead_store_is_started_to_stop(void **state)
{
    store_watch_t s;

    (void)state;
    scratch_program(CONTRACT_STORE_PROGRAM_FD, "#!/bin/sh\nexit 0\n");
    begin_store(&s);
    store_watch_stop(&s, 1);
    assert_false(store_watch_runs(&s));
    begin_store(&s);
    s.start_at = 9000; /* after many deaths */
    store_watch_stop(&s, 1);
    assert_true(store_watch_runs(&s));
    await_store(&s);
    store_watch_tick(&s, 2);
    assert_false(store_watch_runs(&s));
}

/* SIGTERM came when it had nothing left to do but to exit. */
static void a_store_that_ends_for_another_role_is_started_to_stop(void **state)
{
    store_watch_t s;
    pid_t first;

    (void)state;
    first = run_for_another_role(&s);
    store_watch_stop(&s, 2);
    store_watch_tick(&s, 3);
    assert_true(store_watch_runs(&s));
    assert_int_not_equal(s.ward.pid, first);
    await_store(&s); /* it says so again */
    store_watch_tick(&s, 4);
    assert_false(store_watch_runs(&s));
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, scratch_end)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_stop_takes_as_long_as_is_configured),
        TEST(without_a_table_there_is_no_store),
        TEST(the_store_is_started_again),
        TEST(a_dead_store_is_started_to_stop),
        TEST(a_store_that_ends_for_another_role_is_started_to_stop),
    };

    alarm(300);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
