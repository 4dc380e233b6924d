/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/* Two children write an AppLog, and its lines stay whole. Also, the user as
 * which the file is opened. */

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock_ms.h"
#include "base/contract.h"
#include "spawner/process/process.h"
#include "spawner/output/output.h"
#include "tests/unit/support/scene.h"
#include "tests/unit/support/scratch.h"

/* Writes what it is sent to FILE, and ends when FILE.stay is gone. While there
 * is FILE.die, it ends with the first message. While there is FILE.stop, it
 * stops before the first message. FILE.uid has a line for each child: its
 * user. */
static const char script[] =
    "#!/bin/sh\n"
    "echo \"$3\" >>\"$5.uid\"\n"
    "[ -e \"$5.die\" ] && head -c 1 >/dev/null && exit\n"
    "[ -e \"$5.stop\" ] && kill -STOP $$\n"
    "cat >>\"$5\"\n"
    "while [ -e \"$5.stay\" ]; do sleep 0.01; done\n";

#define STOP 2000 /* ms */

static char path[64];
static spawner_t *s;

static int make_file(const char *name, mode_t mode, const char *text)
{
    int fd = openat(s->rt.fd, name, O_RDWR | O_CREAT, mode);

    assert_int_equal(write(fd, text, strlen(text)), strlen(text));
    return fd;
}

static int setup(void **state)
{
    int fd;

    (void)state;
    s = scratch_begin();
    s->now = 100 * SECOND; /* long after the last test's writer began */
    snprintf(path, sizeof path, "%s/log", s->rt.dir);
    close(make_file("program", 0700, script));
    fd = openat(s->rt.fd, "program", O_RDONLY | O_CLOEXEC);
    return dup2(fd, CONTRACT_PROGRAM_FD) < 0 || close(fd) != 0;
}

static int teardown(void **state)
{
    log_writer_stop(STOP);
    close(CONTRACT_PROGRAM_FD);
    return scratch_end(state);
}

static void print(log_writer_t *w, const char *line)
{
    log_writer_send(w, line, strlen(line), 1);
}

static void assert_file(const char *name, const char *text)
{
    char is[1024];
    int fd = openat(s->rt.fd, name, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? -1 : read(fd, is, sizeof is - 1);

    is[n < 0 ? 0 : n] = 0;
    close(fd);
    assert_string_equal(is, text);
}

/* The last process has ended more than five seconds ago. */
static void pass_time(void)
{
    s->now += 6 * SECOND;
    s->wake = INT64_MAX;
    log_writer_tick(s);
}

/* The child has read all lines, and its input has ended. */
static void wait_for_its_end(void)
{
    for (pass_time(); s->wake != INT64_MAX; pass_time())
        usleep(1000);
}

static void hang_up(log_writer_t *w)
{
    log_writer_put(w);
    wait_for_its_end();
}

static void a_line_while_the_last_child_ends(void **state)
{
    log_writer_t *w = log_writer_get(path, 0, geteuid(), getegid());

    (void)state;
    close(make_file("log.stay", 0600, ""));
    print(w, "one\n");
    hang_up(w);
    w = log_writer_get(path, 0, geteuid(), getegid());
    print(w, "two\n");
    print(w, "three\n");
    assert_int_equal(unlinkat(s->rt.fd, "log.stay", 0), 0);
    scratch_reap(-1);
    log_writer_tick(s);
    print(w, "four\n");
    hang_up(w);
    scratch_reap(-1);
    assert_file("log", "one\ntwo\nthree\nfour\n");
}

static void a_line_when_the_child_is_dead(void **state)
{
    log_writer_t *w = log_writer_get(path, 0, geteuid(), getegid());
    siginfo_t info;

    (void)state;
    close(make_file("log.die", 0600, ""));
    print(w, "lost with it\n");
    assert_int_equal(waitid(P_ALL, 0, &info, WEXITED | WNOWAIT), 0);
    print(w, "one\n");
    assert_int_equal(unlinkat(s->rt.fd, "log.die", 0), 0);
    scratch_reap(-1);
    s->now += SECOND;
    log_writer_tick(s);
    hang_up(w);
    scratch_reap(-1);
    assert_file("log", "one\n");
}

/* @return a child that is stopped before it reads "one" */
static pid_t stopped_child(log_writer_t *w)
{
    siginfo_t info;

    close(make_file("log.stop", 0600, ""));
    print(w, "one\n");
    assert_int_equal(waitid(P_ALL, 0, &info, WSTOPPED), 0);
    return info.si_pid;
}

/* Two messages wait in the socket of a child that is killed, and its app may
 * have no process any more. */
static void lines_that_a_killed_child_has_not_read(int is_idle)
{
    log_writer_t *w = log_writer_get(path, 0, geteuid(), getegid());
    pid_t child = stopped_child(w);

    print(w, "two\n");
    if (is_idle) {
        log_writer_put(w);
        pass_time();
        w = log_writer_get(path, 0, geteuid(), getegid());
    }
    assert_int_equal(kill(child, SIGKILL), 0);
    assert_int_equal(unlinkat(s->rt.fd, "log.stop", 0), 0);
    scratch_reap(-1);
    s->now += SECOND;
    log_writer_tick(s);
    hang_up(w);
    scratch_reap(-1);
    assert_file("log", "one\ntwo\n");
    assert_int_equal(scratch_lines("dropped"), 0);
}

static void lines_of_an_app_that_runs(void **state)
{
    (void)state;
    lines_that_a_killed_child_has_not_read(0);
}

static void lines_of_an_idle_app(void **state)
{
    (void)state;
    lines_that_a_killed_child_has_not_read(1);
}

/* When the spawner ends, the child ends, and no other one is needed. */
static void one_child_at_the_stop(void **state)
{
    log_writer_t *w = log_writer_get(path, 0, geteuid(), getegid());
    char user[16];

    (void)state;
    print(w, "one\n");
    log_writer_put(w);
    log_writer_stop(STOP);
    snprintf(user, sizeof user, "%u\n", (unsigned)geteuid());
    assert_file("log.uid", user);
    assert_file("log", "one\n");
}

/* The linker wraps poll(). */
static int is_hurried; /* signals end each sleep */
static pid_t frozen;   /* a child, and this process in its next sleep */

int __real_poll(struct pollfd *fds, nfds_t n, int ms);
int __wrap_poll(struct pollfd *fds, nfds_t n, int ms);

int __wrap_poll(struct pollfd *fds, nfds_t n, int ms)
{
    if (frozen == 0)
        return __real_poll(fds, n, is_hurried ? 1 : ms);
    usleep(STOP * 600); /* more than STOP / 2 */
    kill(frozen, SIGCONT);
    frozen = 0;
    return 0;
}

/* The child does not end in time when the spawner ends. */
static void lines_that_no_child_will_read(void **state)
{
    log_writer_t *w = log_writer_get(path, 0, geteuid(), getegid());
    pid_t child = stopped_child(w);
    int64_t began;

    (void)state;
    log_writer_send(w, "two\nthree\n", 10, 2);
    log_writer_put(w);
    is_hurried = 1;
    began = clock_ms();
    log_writer_stop(STOP / 4);
    is_hurried = 0;
    assert_in_range(clock_ms() - began, STOP / 4, STOP * 10);
    assert_int_equal(scratch_lines("is not written fast enough: 3 lines"), 1);
    assert_int_equal(waitpid(child, NULL, 0), child);
}

/* The machine was stopped for longer than the spawner waits. */
static void the_child_was_frozen_with_the_spawner(void **state)
{
    log_writer_t *w = log_writer_get(path, 0, geteuid(), getegid());

    (void)state;
    frozen = stopped_child(w);
    log_writer_put(w);
    log_writer_stop(STOP / 2);
    assert_int_equal(frozen, 0);
    assert_file("log", "one\n");
}

/* After a reload the app has another user and another AppLog. Processes of the
 * old user still serve until they are replaced. */
static void a_line_about_an_app_whose_user_changed(void **state)
{
    static process_t old = {.is = {.name = "shop", .uid = 1, .gid = 1}},
                     new = {.is = {.name = "shop", .uid = 2, .gid = 3}};
    app_entry_t app = {.app = {.name = "shop"}, .log = path, .uid = 2};

    (void)state;
    old.next = &new;
    s->processes = &old;
    app_log_about(&app, LOG_NOTICE, "shop is started");
    s->processes = NULL;
    wait_for_its_end();
    scratch_reap(-1);
    assert_file("log.uid", "2\n");
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_line_while_the_last_child_ends),
        TEST(a_line_when_the_child_is_dead),
        TEST(lines_of_an_app_that_runs),
        TEST(lines_of_an_idle_app),
        TEST(one_child_at_the_stop),
        TEST(lines_that_no_child_will_read),
        TEST(the_child_was_frozen_with_the_spawner),
        TEST(a_line_about_an_app_whose_user_changed),
    };

    alarm(300);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
