/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "shm/lock/alive.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PF_EXITING 0x4 /* include/linux/sched.h of the kernel */

typedef struct {
    char state;
    int32_t session;
    uint64_t flags, start, resident, pending;
} stat_t;

/* Read fields 3, 6, 9, 22, 24 and 31. The name in field 2 may contain any
 * characters, so fields are counted from the last parenthesis. */
static int parse_stat(const char *stat, stat_t *is)
{
    const char *at = strrchr(stat, ')');
    int field;

    if (!at || at[1] != ' ')
        return -1;
    at += 2;
    is->state = *at;
    for (field = 4; field <= 31; field++) {
        at = strchr(at, ' ');
        if (!at)
            return -1;
        at++;
        if (field == 6)
            is->session = (int32_t)strtol(at, NULL, 10);
        else if (field == 9)
            is->flags = strtoull(at, NULL, 10);
        else if (field == 22)
            is->start = strtoull(at, NULL, 10);
        else if (field == 24)
            is->resident = strtoull(at, NULL, 10);
    }
    is->pending = strtoull(at, NULL, 10);
    return 0;
}

static int read_stat(int32_t pid, stat_t *is)
{
    char path[32], stat[1024];
    ssize_t n;
    int fd;

    snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return -1;
    n = read(fd, stat, sizeof stat - 1);
    close(fd);
    if (n <= 0)
        return -1;
    stat[n] = 0;
    return parse_stat(stat, is);
}

static int is_dead(const stat_t *is)
{
    return is->state == 'Z' || is->state == 'X';
}

int apl_alive_stat(int32_t pid, apl_stat_t *stat)
{
    stat_t is;

    if (pid <= 0 || read_stat(pid, &is) != 0 || is_dead(&is))
        return -1;
    memset(stat, 0, sizeof *stat);
    stat->identity.pid = pid;
    stat->identity.start = is.start;
    stat->session = is.session;
    stat->resident = (int64_t)is.resident * sysconf(_SC_PAGESIZE);
    return 0;
}

int apl_alive_identify(int32_t pid, apl_identity_t *identity)
{
    apl_stat_t is;

    if (apl_alive_stat(pid, &is) != 0)
        return -1;
    *identity = is.identity;
    return 0;
}

int apl_alive(const apl_identity_t *identity)
{
    apl_identity_t now;

    return apl_alive_identify(identity->pid, &now) == 0 &&
           now.start == identity->start;
}

int apl_alive_ending(int32_t pid)
{
    stat_t is;

    if (pid <= 0)
        return 0;
    /* With the mount option hidepid, /proc shows nothing of a living process
     * of another user. */
    if (read_stat(pid, &is) != 0)
        return kill(pid, 0) != 0 && errno == ESRCH;
    /* When a signal ends a process, the kernel gives SIGKILL to each of its
     * threads, whatever that signal was. */
    return is_dead(&is) || (is.flags & PF_EXITING) != 0 ||
           (is.pending & 1u << (SIGKILL - 1)) != 0;
}
