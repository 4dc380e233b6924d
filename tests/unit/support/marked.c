/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "tests/unit/support/marked.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/contract.h"
#include "system/procfs.h"
#include "tests/unit/support/scene.h"

pid_t marked[MARKED_MAX];
int n_marked, n_stuck, marked_held;

int __real_procfs_mark(pid_t pid, char *mark, size_t size);
int __wrap_procfs_mark(pid_t pid, char *mark, size_t size);
int __real_clock_gettime(clockid_t which, struct timespec *t);
int __wrap_clock_gettime(clockid_t which, struct timespec *t);
unsigned __real_alarm(unsigned seconds);
unsigned __wrap_alarm(unsigned seconds);

/* Says for each of them, and for this process, if it was read. Shared with the
 * readers. */
static volatile char *was_read;
static pid_t self;

void marked_read(int own)
{
    if (!was_read)
        was_read = mmap(NULL, MARKED_MAX + 1, PROT_READ | PROT_WRITE,
                        MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    memset((char *)was_read, 0, MARKED_MAX);
    was_read[MARKED_MAX] = !own;
    self = getpid();
}

static void note(pid_t pid)
{
    int i;

    for (i = 0; i < n_marked; i++)
        if (marked[i] == pid)
            was_read[i] = 1;
    if (pid == self)
        was_read[MARKED_MAX] = 1;
}

/* Are they blocked, and have they nothing else to do? */
static int only_wait(void)
{
    int i;

    if (n_stuck == 0 || !was_read[MARKED_MAX])
        return 0;
    for (i = n_stuck; i < n_marked; i++)
        if (!was_read[i] && marked_is_alive(marked[i]))
            return 0;
    return 1;
}

int __wrap_clock_gettime(clockid_t which, struct timespec *t)
{
    static int64_t then, now; /* ns */
    int64_t is;
    int rv = __real_clock_gettime(which, t);

    if (which != CLOCK_MONOTONIC)
        return rv;
    is = t->tv_sec * 1000000000 + t->tv_nsec;
    now += then == 0 ? is : (is - then) / (only_wait() ? 1 : MARKED_SLOWER);
    then = is;
    if (marked_held > 0 && getpid() == self && --marked_held == 0)
        now += 10000000000;
    t->tv_sec = now / 1000000000;
    t->tv_nsec = now % 1000000000;
    return rv;
}

unsigned __wrap_alarm(unsigned seconds)
{
    return __real_alarm(seconds * MARKED_SLOWER);
}

int __wrap_procfs_mark(pid_t pid, char *mark, size_t size)
{
    int i, rv;

    for (i = 0; i < n_stuck; i++)
        while (marked[i] == pid)
            pause();
    if (marked_held > 0)
        usleep(100000); /* the reader is stopped as well */
    rv = __real_procfs_mark(pid, mark, size);
    note(pid);
    return rv;
}

const char *marked_instance(void)
{
    static char instance[17];

    if (!instance[0])
        snprintf(instance, sizeof instance, "%08x%08x", (unsigned)getpid(),
                 (unsigned)time(NULL));
    return instance;
}

pid_t marked_start(const char *instance, uint64_t id)
{
    char mark[64];
    int ends[2];
    pid_t pid, app = 0;

    assert_true(n_marked < MARKED_MAX);
    assert_int_equal(pipe(ends), 0);
    snprintf(mark, sizeof mark, CONTRACT_MARK "=%s-" CONTRACT_ID_FMT, instance,
             id);
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
    marked[n_marked++] = app;
    return app;
}

int marked_is_alive(pid_t pid)
{
    procfs_t info;

    return procfs_read(pid, &info) == 0 && info.state != 'Z' &&
           info.state != 'X';
}

void marked_end(void)
{
    int i;

    for (i = 0; i < n_marked; i++)
        kill(marked[i], SIGKILL);
    for (i = 0; i < n_marked; i++)
        while (marked_is_alive(marked[i]))
            usleep(1000);
    n_marked = n_stuck = 0;
}
