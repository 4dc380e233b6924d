/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/* A program without a heartbeat is killed. One that cannot write its heartbeat
 * is not. Its end is seen, with and without a descriptor for it. Each program
 * has its own descriptors only. */

#include "watchdog/ward.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/contract.h"
#include "base/pidfd.h"
#include "system/procfs.h"
#include "tests/unit/support/scene.h"
#include "tests/unit/support/scratch.h"

#define LOOK  3000 /* ms from one check to the next */
#define LOOKS 11   /* checks that kill it: the first one sees a beat */
#define HURRY 5    /* checks that kill one that should stop */
#define NAME  "/x/apppool-watchdog"

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
static int watch_it(const ward_kind_t *kind, int is_stopping, int looks)
{
    static ward_t w;
    int status, i;

    ward_begin(&w, kind, scratch->rt.dir, scratch->rt.fd, NAME);
    w.pid = fork();
    if (w.pid == 0)
        for (;;)
            pause();
    w.pidfd = pidfd_open(w.pid, 0);
    assert_true(w.pidfd >= 0);
    w.is_stopping = is_stopping;
    for (i = 1; i <= looks; i++)
        ward_check(&w, i * LOOK);
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
    assert_int_equal(watch_it(&ward_spawner, 0, LOOKS - 1), SIGTERM);
    assert_int_equal(watch_it(&ward_spawner, 0, LOOKS), SIGKILL);
    assert_int_equal(watch_it(&ward_spawner, 1, HURRY - 1), SIGTERM);
    assert_int_equal(watch_it(&ward_spawner, 1, HURRY), SIGKILL);
}

static void without_a_file_nothing_is_known(void **state)
{
    (void)state;
    assert_int_equal(watch_it(&ward_spawner, 0, 2 * LOOKS), SIGTERM);
}

/* As ward_start() does it when there are no more descriptors. */
static void start_without_a_pidfd(ward_t *w, const char *script)
{
    scratch_program(CONTRACT_PROGRAM_FD, script);
    ward_begin(w, &ward_spawner, scratch->rt.dir, scratch->rt.fd, NAME);
    assert_string_equal(w->name, "/x/apppool-spawner");
    no_pidfds = 1;
    assert_int_equal(ward_start(w, 0, 0), 0);
    no_pidfds = 0;
    close(CONTRACT_PROGRAM_FD);
    assert_int_equal(w->pidfd, -1);
}

static void await_its_end(const ward_t *w)
{
    siginfo_t info;

    assert_int_equal(waitid(P_PID, (id_t)w->pid, &info, WEXITED | WNOWAIT), 0);
    assert_true(ward_has_ended(w));
}

static void the_end_is_seen_without_a_pidfd(void **state)
{
    ward_t w;

    (void)state;
    start_without_a_pidfd(&w, "#!/bin/sh\nexit 0\n");
    await_its_end(&w);
    assert_int_equal(ward_log_end(&w, 1), CONTRACT_EXIT_DONE);
    assert_false(ward_has_ended(&w));
}

static void without_a_pidfd_it_is_killed_as_well(void **state)
{
    int i, fd = openat(scratch->rt.fd, CONTRACT_SPAWNER_HEARTBEAT,
                       O_WRONLY | O_CREAT, 0600);
    ward_t w;

    (void)state;
    close(fd);
    start_without_a_pidfd(&w, "#!/bin/sh\nexec sleep 60\n");
    assert_false(ward_has_ended(&w));
    for (i = 1; i <= LOOKS; i++)
        ward_check(&w, i * LOOK);
    await_its_end(&w);
    assert_int_equal(ward_log_end(&w, 1), -1);
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
    ward_t w;

    (void)state;
    ward_begin(&w, &ward_spawner, scratch->rt.dir, scratch->rt.fd, NAME);
    assert_int_equal(ward_join(&w, 0), 0);
    assert_int_equal(procfs_read(getpid(), &me), 0);
    note_spawner(me.start + 1);
    assert_int_equal(ward_join(&w, 0), 0);
    note_spawner(me.start);
    is_doomed = 1;
    assert_int_equal(ward_join(&w, 0), 0);
    is_doomed = 0;
    assert_int_equal(ward_join(&w, 0), 1);
    assert_int_equal(w.pid, getpid());
    close(w.pidfd);
}

/* ---- the next start ---- */

/* @return s */
static int64_t pause_of(ward_t *w, int code, int64_t lived)
{
    w->born = 1000;
    return ward_pause(w, code, w->born + lived) / 1000;
}

static int64_t pause_after(ward_t *w, int64_t lived)
{
    return pause_of(w, -1, lived);
}

static void a_spawner_that_dies_again_and_again_waits(void **state)
{
    ward_t w = {.kind = &ward_spawner};
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

/* ---- the store ---- */

static void another_role_is_no_death(void **state)
{
    ward_t w = {.kind = &ward_store};
    int i;

    (void)state;
    for (i = 0; i < 20; i++)
        assert_int_equal(pause_of(&w, CONTRACT_EXIT_AGAIN, 2000), 0);
    /* But a store that ends again and again must not take the processor. */
    for (i = 0; i < 5; i++)
        assert_int_equal(pause_of(&w, CONTRACT_EXIT_AGAIN, 1999), 0);
    assert_int_equal(pause_of(&w, CONTRACT_EXIT_AGAIN, 0), 1);
    assert_int_equal(pause_of(&w, CONTRACT_EXIT_AGAIN, 2000), 0);
}

static void the_store_has_its_time_to_stop(void **state)
{
    (void)state;
    assert_int_equal(watch_it(&ward_store, 1, CONTRACT_STORE_STOP - 1),
                     SIGTERM);
    assert_int_equal(watch_it(&ward_store, 1, CONTRACT_STORE_STOP), SIGKILL);
    assert_int_equal(watch_it(&ward_store, 0, 2 * LOOKS), SIGTERM);
}

/* Move what the test has open to other numbers, and open one file at all
 * numbers of the contract. */
static void open_contract(int moved[CONTRACT_LAST_FD + 1])
{
    int fd, file, made = openat(scratch->rt.fd, "file", O_RDWR | O_CREAT, 0600);

    file = fcntl(made, F_DUPFD_CLOEXEC, CONTRACT_LAST_FD + 1);
    close(made);
    for (fd = CONTRACT_LIFE_FD; fd <= CONTRACT_LAST_FD; fd++) {
        moved[fd] = fcntl(fd, F_DUPFD_CLOEXEC, CONTRACT_LAST_FD + 1);
        assert_int_equal(dup2(file, fd), fd);
    }
    close(file);
    scratch->rt.fd = moved[scratch->rt.fd];
}

static void close_contract(const int moved[CONTRACT_LAST_FD + 1])
{
    int fd;

    for (fd = CONTRACT_LIFE_FD; fd <= CONTRACT_LAST_FD; fd++) {
        if (moved[fd] == scratch->rt.fd)
            scratch->rt.fd = fd;
        if (moved[fd] >= 0)
            dup2(moved[fd], fd);
        else
            close(fd);
        close(moved[fd]);
    }
}

/* What is withheld is closed, or is another file of the program itself. */
static void expect_descriptors(pid_t pid, unsigned withheld)
{
    struct stat file, there;
    char path[64];
    int fd;

    assert_int_equal(fstatat(scratch->rt.fd, "file", &file, 0), 0);
    for (fd = CONTRACT_LIFE_FD; fd <= CONTRACT_LAST_FD; fd++) {
        snprintf(path, sizeof path, "/proc/%d/fd/%d", (int)pid, fd);
        if (withheld >> fd & 1)
            assert_true(stat(path, &there) != 0 || there.st_ino != file.st_ino);
        else
            assert_int_equal(stat(path, &there), 0);
    }
}

static void await_sleep(pid_t pid)
{
    char text[64];

    do
        assert_true(procfs_text(pid, "comm", text, sizeof text) > 0);
    while (strcmp(text, "sleep\n") != 0);
}

static void expect_file(const char *name, const char *wanted)
{
    char text[64];
    int fd = openat(scratch->rt.fd, name, O_RDONLY);
    ssize_t n = read(fd, text, sizeof text - 1);

    close(fd);
    text[n > 0 ? n : 0] = 0;
    assert_string_equal(text, wanted);
}

/* Start a ward, see what it has, and end it. */
static void look_into(const ward_kind_t *kind, unsigned withheld)
{
    char text[64];
    procfs_t it;
    ward_t w;

    scratch_program(kind->program_fd, "#!/bin/sh\nexec sleep 60\n");
    ward_begin(&w, kind, scratch->rt.dir, scratch->rt.fd, NAME);
    assert_int_equal(ward_start(&w, 0, 0), 0);
    await_sleep(w.pid);
    expect_descriptors(w.pid, withheld);
    if (kind->has_signer) {
        assert_int_equal(procfs_read(w.pid, &it), 0);
        snprintf(text, sizeof text, "%d %llu\n", (int)w.pid,
                 (unsigned long long)it.start);
        expect_file(kind->pid_file, text);
    }
    kill(w.pid, SIGKILL);
    await_its_end(&w);
    assert_int_equal(ward_log_end(&w, 1), -1);
}

static void each_has_its_descriptors_only(void **state)
{
    int moved[CONTRACT_LAST_FD + 1];

    (void)state;
    open_contract(moved);
    look_into(&ward_spawner, CONTRACT_STORE_FDS);
    look_into(&ward_store, CONTRACT_SPAWNER_FDS);
    close_contract(moved);
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
        TEST(another_role_is_no_death),
        TEST(the_store_has_its_time_to_stop),
        TEST(each_has_its_descriptors_only),
    };

    alarm(300);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
