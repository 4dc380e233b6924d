/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/* Marks are read although a process keeps its readers waiting; and nothing
 * is left of the readers. procfs_mark() is ours here: the linker wraps it. */

#include "spawner/marks.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "spawner/contract.h"
#include "spawner/sweep.h"
#include "tests/unit/scene.h"

#define MANY 40 /* more than may keep the readers waiting */

static char instance[17]; /* of this run alone */
static pid_t apps[MANY];
static int n_apps, n_stuck;

int __real_procfs_mark(pid_t pid, char *mark, size_t size);
int __wrap_procfs_mark(pid_t pid, char *mark, size_t size);

/* The first n_stuck of the apps never answer. */
int __wrap_procfs_mark(pid_t pid, char *mark, size_t size)
{
    int i;

    for (i = 0; i < n_stuck; i++)
        while (apps[i] == pid)
            pause();
    return __real_procfs_mark(pid, mark, size);
}

/* Not a child of ours, as a sweep would end that without asking. */
static pid_t start_app(void)
{
    char mark[64];
    int ends[2];
    pid_t pid, app = 0;

    assert_int_equal(pipe(ends), 0);
    snprintf(mark, sizeof mark, CONTRACT_MARK "=%s-0123456789abcdef", instance);
    pid = fork();
    if (pid == 0) {
        app = fork();
        if (app != 0)
            _exit(write(ends[1], &app, sizeof app) != sizeof app);
        setsid();
        execle("/bin/sleep", "sleep", "600", NULL, (char *[]){mark, NULL});
        _exit(1);
    }
    assert_int_equal(waitpid(pid, NULL, 0), pid);
    close(ends[1]);
    assert_int_equal(read(ends[0], &app, sizeof app), sizeof app);
    close(ends[0]);
    while (__real_procfs_mark(app, mark, sizeof mark) != 0)
        usleep(1000); /* until it has become sleep */
    return app;
}

static void start(int n, int stuck)
{
    for (n_apps = 0; n_apps < n; n_apps++)
        apps[n_apps] = start_app();
    n_stuck = stuck;
}

static int is_alive(pid_t pid)
{
    procfs_t who;

    return procfs_read(pid, &who) == 0 && who.state != 'Z';
}

static void end_apps(void)
{
    int i;

    for (i = 0; i < n_apps; i++)
        kill(apps[i], SIGKILL);
    for (i = 0; i < n_apps; i++)
        while (is_alive(apps[i]))
            usleep(1000);
    n_stuck = 0;
}

static double seconds_since(const struct timespec *then)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)(now.tv_sec - then->tv_sec) +
           (double)(now.tv_nsec - then->tv_nsec) / 1e9;
}

typedef struct {
    int bear, none, unknown;
} tally_t;

static int is_app(const procfs_t *who, void *ctx)
{
    int i;

    (void)ctx;
    for (i = 0; i < n_apps; i++)
        if (apps[i] == who->pid)
            return 1;
    return who->pid == getpid();
}

static void judge(const procfs_t *who, const char *mark, void *ctx)
{
    tally_t *t = ctx;

    assert_true(is_app(who, NULL));
    if (!mark)
        t->unknown++;
    else if (strncmp(mark, instance, 16) == 0)
        t->bear++;
    else
        t->none += mark[0] == 0;
}

static tally_t read_marks(void)
{
    tally_t t = {0, 0, 0};

    marks_read(is_app, judge, &t);
    /* Nobody who reads is left. */
    assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
    assert_int_equal(errno, ECHILD);
    return t;
}

static void all_are_read(void **state)
{
    tally_t t;

    (void)state;
    start(5, 0);
    t = read_marks();
    assert_int_equal(t.bear, 5);
    assert_int_equal(t.none, 1); /* this one */
    assert_int_equal(t.unknown, 0);
    end_apps();
}

static void others_are_read(void **state)
{
    tally_t t;

    (void)state;
    start(6, 3);
    t = read_marks();
    assert_int_equal(t.bear, 3);
    assert_int_equal(t.none, 1);
    assert_int_equal(t.unknown, 3);
    end_apps();
}

static void too_many_are_stuck(void **state)
{
    struct timespec begun;
    tally_t t;

    (void)state;
    start(MANY, MANY);
    clock_gettime(CLOCK_MONOTONIC, &begun);
    t = read_marks();
    assert_int_equal(t.bear, 0);
    assert_true(t.unknown >= MANY);
    assert_true(seconds_since(&begun) < 60);
    end_apps();
}

/* The end of an instance is none that waits: what can be read is ended, and
 * what cannot is left alone. */
static void a_sweep_ends(void **state)
{
    struct timespec begun;

    (void)state;
    start(4, 1);
    clock_gettime(CLOCK_MONOTONIC, &begun);
    assert_int_equal(sweep_processes(instance), 0);
    assert_true(seconds_since(&begun) < 60);
    assert_true(is_alive(apps[0]));
    for (n_stuck = 1; n_stuck < 4; n_stuck++)
        assert_false(is_alive(apps[n_stuck]));
    end_apps();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_are_read),
        cmocka_unit_test(others_are_read),
        cmocka_unit_test(too_many_are_stuck),
        cmocka_unit_test(a_sweep_ends),
    };

    snprintf(instance, sizeof instance, "%08x%08x", (unsigned)getpid(),
             (unsigned)time(NULL));
    alarm(300); /* should it wait after all */
    return cmocka_run_group_tests(tests, NULL, NULL);
}
