/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "tests/unit/marked.h"

#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "spawner/contract.h"
#include "spawner/procfs.h"
#include "tests/unit/scene.h"

pid_t marked[MARKED_MAX];
int n_marked, n_stuck;

int __real_procfs_mark(pid_t pid, char *mark, size_t size);
int __wrap_procfs_mark(pid_t pid, char *mark, size_t size);

int __wrap_procfs_mark(pid_t pid, char *mark, size_t size)
{
    int i;

    for (i = 0; i < n_stuck; i++)
        while (marked[i] == pid)
            pause();
    return __real_procfs_mark(pid, mark, size);
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
    procfs_t who;

    return procfs_read(pid, &who) == 0 && who.state != 'Z' && who.state != 'X';
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
