/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "tests/unit/support/family.h"

#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/unit/support/scene.h"

static _Noreturn void lead(const family_t *f, int pids, size_t memory)
{
    pid_t member[FAMILY_MEMBERS];
    volatile char *used;
    size_t at;
    int i;

    setsid();
    for (i = 0; i < FAMILY_MEMBERS; i++) {
        member[i] = fork();
        if (member[i] != 0)
            continue;
        close(f->ends[1]);
        setpgid(0, 0); /* it is in the session, and not in the group */
        used = malloc(memory + 1);
        for (at = 0; at < memory; at += 4096)
            used[at] = 1;
        member[i] = getpid();
        if (write(pids, &member[i], sizeof member[i]) > 0)
            for (;;)
                pause();
        _exit(1);
    }
    close(f->ends[1]);
    _exit(read(f->ends[0], &i, sizeof i) != 0);
}

void family_begin(family_t *f, size_t memory)
{
    int pids[2], i;

    assert_int_equal(pipe(f->ends) | pipe(pids), 0);
    f->leader = fork();
    if (f->leader == 0)
        lead(f, pids[1], memory);
    for (i = 0; i < FAMILY_MEMBERS; i++)
        assert_int_equal(read(pids[0], &f->member[i], sizeof(pid_t)),
                         sizeof(pid_t));
    close(pids[0]);
    close(pids[1]);
    close(f->ends[0]);
    assert_int_equal(procfs_read(f->leader, &f->is), 0);
}

void family_end_leader(const family_t *f)
{
    int status;

    close(f->ends[1]);
    assert_int_equal(waitpid(f->leader, &status, 0), f->leader);
    assert_int_equal(status, 0);
}

static int is_alive(pid_t pid)
{
    procfs_t info;

    return procfs_read(pid, &info) == 0 && info.state != 'Z' &&
           info.state != 'X';
}

int family_alive(const family_t *f)
{
    int i, n = 0;

    for (i = 0; i < FAMILY_MEMBERS; i++)
        n += is_alive(f->member[i]);
    return n;
}

void family_wait(const family_t *f)
{
    int i;

    for (i = 0; i < 60000 && family_alive(f) > 0; i++)
        usleep(1000);
    assert_int_equal(family_alive(f), 0);
}

void family_kill(const family_t *f)
{
    int i;

    for (i = 0; i < FAMILY_MEMBERS; i++)
        kill(f->member[i], SIGKILL);
    family_wait(f);
}
