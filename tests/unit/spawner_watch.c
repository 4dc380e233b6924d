/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/* A spawner without a heartbeat is killed. One that cannot write its heartbeat
 * is not. Its end is seen, with and without a descriptor for it. */

#include "spawner/watchdog/spawner_watch.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "spawner/shared/contract.h"
#include "spawner/shared/pidfd.h"
#include "spawner/common/procfs.h"
#include "tests/unit/support/scene.h"
#include "tests/unit/support/scratch.h"

#define LOOK  3000 /* ms from one check to the next */
#define LOOKS 11   /* checks that kill it: the first one sees a beat */
#define HURRY 5    /* checks that kill one that should stop */

static int no_pidfds;

long __wrap_syscall(long number, long a, long b, long c, long d);
long __real_syscall(long number, ...);

long __wrap_syscall(long number, long a, long b, long c, long d)
{
    if (no_pidfds && number == SYS_pidfd_open) {
        errno = EMFILE;
        return -1;
    }
    return __real_syscall(number, a, b, c, d);
}

static spawner_t *scratch;

static int setup(void **state)
{
    (void)state;
    scratch = scratch_begin();
    return 0;
}

/* A spawner that hangs is checked. @return the signal that ended it */
static int watch_it(int is_stopping, int looks)
{
    static spawner_watch_t w;
    int status, i;

    memset(&w, 0, sizeof w);
    w.runtime = scratch->rt.dir;
    w.dirfd = scratch->rt.fd;
    w.pid = fork();
    if (w.pid == 0)
        for (;;)
            pause();
    w.pidfd = pidfd_open(w.pid, 0);
    assert_true(w.pidfd >= 0);
    w.is_stopping = is_stopping;
    for (i = 1; i <= looks; i++)
        spawner_watch_check(&w, i * LOOK);
    /* The first of two signals ends it. */
    kill(w.pid, SIGTERM);
    assert_int_equal(waitpid(w.pid, &status, 0), w.pid);
    close(w.pidfd);
    return WTERMSIG(status);
}

static void without_a_beat_it_is_killed(void **state)
{
    int fd = openat(scratch->rt.fd, CONTRACT_SPAWNER_HEARTBEAT,
                    O_WRONLY | O_CREAT, 0600);

    (void)state;
    assert_true(fd >= 0);
    close(fd);
    assert_int_equal(watch_it(0, LOOKS - 1), SIGTERM);
    assert_int_equal(watch_it(0, LOOKS), SIGKILL);
    assert_int_equal(watch_it(1, HURRY - 1), SIGTERM);
    assert_int_equal(watch_it(1, HURRY), SIGKILL);
}

static void without_a_file_nothing_is_known(void **state)
{
    (void)state;
    assert_int_equal(watch_it(0, 2 * LOOKS), SIGTERM);
}

/* As spawner_watch_start() does it when there are no more descriptors. */
static void start_without_a_pidfd(spawner_watch_t *w, const char *script)
{
    int fd = openat(scratch->rt.fd, "spawner", O_WRONLY | O_CREAT, 0700);

    assert_int_equal(write(fd, script, strlen(script)), strlen(script));
    close(fd);
    fd = openat(scratch->rt.fd, "spawner", O_RDONLY);
    assert_int_equal(dup2(fd, CONTRACT_PROGRAM_FD), CONTRACT_PROGRAM_FD);
    close(fd);
    memset(w, 0, sizeof *w);
    w->runtime = scratch->rt.dir;
    w->dirfd = scratch->rt.fd;
    strcpy(w->name, "spawner");
    no_pidfds = 1;
    assert_int_equal(spawner_watch_start(w, 0, 0), 0);
    no_pidfds = 0;
    close(CONTRACT_PROGRAM_FD);
    assert_int_equal(w->pidfd, -1);
}

static void await_its_end(const spawner_watch_t *w)
{
    siginfo_t info;

    assert_int_equal(waitid(P_PID, (id_t)w->pid, &info, WEXITED | WNOWAIT), 0);
    assert_true(spawner_watch_has_ended(w));
}

static void the_end_is_seen_without_a_pidfd(void **state)
{
    spawner_watch_t w;

    (void)state;
    start_without_a_pidfd(&w, "#!/bin/sh\nexit 0\n");
    await_its_end(&w);
    assert_int_equal(spawner_watch_log_end(&w, 1), CONTRACT_EXIT_DONE);
    assert_false(spawner_watch_has_ended(&w));
}

static void without_a_pidfd_it_is_killed_as_well(void **state)
{
    int i, fd = openat(scratch->rt.fd, CONTRACT_SPAWNER_HEARTBEAT,
                       O_WRONLY | O_CREAT, 0600);
    spawner_watch_t w;

    (void)state;
    close(fd);
    start_without_a_pidfd(&w, "#!/bin/sh\nexec sleep 60\n");
    assert_false(spawner_watch_has_ended(&w));
    for (i = 1; i <= LOOKS; i++)
        spawner_watch_check(&w, i * LOOK);
    await_its_end(&w);
    assert_int_equal(spawner_watch_log_end(&w, 1), -1);
}

/* ---- the spawner that runs already ---- */

static int is_doomed;

int __wrap_procfs_is_killed(pid_t pid);

int __wrap_procfs_is_killed(pid_t pid)
{
    (void)pid;
    return is_doomed;
}

static void note_spawner(unsigned long long start)
{
    FILE *file = fdopen(openat(scratch->rt.fd, CONTRACT_SPAWNER,
                               O_WRONLY | O_CREAT | O_TRUNC, 0600),
                        "w");

    assert_non_null(file);
    fprintf(file, "%d %llu\n", (int)getpid(), start);
    fclose(file);
}

static void it_is_joined_if_it_is_that_one(void **state)
{
    procfs_t me;
    spawner_watch_t w;

    (void)state;
    memset(&w, 0, sizeof w);
    w.pidfd = -1;
    w.dirfd = scratch->rt.fd;
    assert_int_equal(spawner_watch_join(&w, 0), 0);
    assert_int_equal(procfs_read(getpid(), &me), 0);
    note_spawner(me.start + 1);
    assert_int_equal(spawner_watch_join(&w, 0), 0);
    note_spawner(me.start);
    is_doomed = 1;
    assert_int_equal(spawner_watch_join(&w, 0), 0);
    is_doomed = 0;
    assert_int_equal(spawner_watch_join(&w, 0), 1);
    assert_int_equal(w.pid, getpid());
    close(w.pidfd);
}

/* ---- the next start ---- */

/* @return s */
static int64_t pause_after(spawner_watch_t *w, int64_t lived)
{
    w->born = 1000;
    return spawner_watch_pause(w, w->born + lived) / 1000;
}

static void a_spawner_that_dies_again_and_again_waits(void **state)
{
    spawner_watch_t w = {0};
    int i;

    (void)state;
    for (i = 0; i < 5; i++)
        assert_int_equal(pause_after(&w, 0), 0);
    for (i = 1; i < 10; i++)
        assert_int_equal(pause_after(&w, 1999), i);
    for (i = 0; i < 3; i++)
        assert_int_equal(pause_after(&w, 0), 10);
    /* Two seconds of life cancel one death. This is another one. */
    assert_int_equal(pause_after(&w, 2000), 10);
    assert_int_equal(pause_after(&w, 6000), 8);
    assert_int_equal(pause_after(&w, 3600000), 0);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, scratch_end)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(without_a_beat_it_is_killed),
        TEST(without_a_file_nothing_is_known),
        TEST(the_end_is_seen_without_a_pidfd),
        TEST(without_a_pidfd_it_is_killed_as_well),
        TEST(it_is_joined_if_it_is_that_one),
        TEST(a_spawner_that_dies_again_and_again_waits),
    };

    alarm(60);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
