/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "system/procfs.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/contract.h"
#include "base/pidfd.h"

/* Fields are counted from the last parenthesis, because the name in field 2 may
 * contain any bytes. */
static int parse(const char *stat, procfs_t *info)
{
    const char *name = strchr(stat, '('), *at = strrchr(stat, ')');
    unsigned long user, system, children_user, children_system;
    long ppid, pgrp, session;
    int field;

    if (!name || !at ||
        sscanf(at, ") %c %ld %ld %ld", &info->state, &ppid, &pgrp, &session) !=
            4)
        return -1;
    snprintf(info->name, sizeof info->name, "%.*s", (int)(at - name - 1),
             name + 1);
    info->ppid = (pid_t)ppid;
    info->pgrp = (pid_t)pgrp;
    info->session = (pid_t)session;
    at += 2;
    for (field = 3; field < 22; field++) {
        at = strchr(at, ' ');
        if (!at)
            return -1;
        at++;
        if (field == 13 && sscanf(at, "%lu %lu %lu %lu", &user, &system,
                                  &children_user, &children_system) != 4)
            return -1;
    }
    info->cpu = user + system;
    info->family_cpu = info->cpu + children_user + children_system;
    if (sscanf(at, "%" SCNu64 " %*u %" SCNd64, &info->start, &info->memory) !=
        2)
        return -1;
    info->memory *= sysconf(_SC_PAGESIZE);
    return 0;
}

ssize_t procfs_text(pid_t pid, const char *name, char *text, size_t size)
{
    char path[64];
    ssize_t n;
    int fd;

    text[0] = 0;
    snprintf(path, sizeof path, "/proc/%d/%s", (int)pid, name);
    fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return -1;
    n = read(fd, text, size - 1);
    close(fd);
    text[n > 0 ? n : 0] = 0;
    return n;
}

int procfs_read(pid_t pid, procfs_t *info)
{
    char stat[512];

    if (pid <= 0 || procfs_text(pid, "stat", stat, sizeof stat) <= 0)
        return -1;
    info->pid = pid;
    return parse(stat, info);
}

int procfs_thread(pid_t pid, pid_t thread, procfs_t *info)
{
    char name[32], stat[512];

    snprintf(name, sizeof name, "task/%d/stat", (int)thread);
    if (pid <= 0 || procfs_text(pid, name, stat, sizeof stat) <= 0)
        return -1;
    info->pid = thread;
    return parse(stat, info);
}

int procfs_dead(pid_t pid, uint64_t start)
{
    procfs_t info;

    if (pid <= 0)
        return 1;
    if (procfs_read(pid, &info) == 0)
        return info.start != start || info.state == 'Z' || info.state == 'X';
    /* This comes last: its parent may reap it at any moment. */
    return kill(pid, 0) != 0 && errno == ESRCH;
}

int procfs_is_killed(pid_t pid)
{
    static const char *const fields[] = {"\nSigPnd:", "\nShdPnd:"};
    char text[2048];
    size_t i;

    if (procfs_text(pid, "status", text, sizeof text) <= 0)
        return 0;
    for (i = 0; i < sizeof fields / sizeof *fields; i++) {
        const char *at = strstr(text, fields[i]);

        if (at &&
            strtoull(at + strlen(fields[i]), NULL, 16) >> (SIGKILL - 1) & 1)
            return 1;
    }
    return 0;
}

uint64_t procfs_now(void)
{
    struct timespec t;
    uint64_t hertz = (uint64_t)sysconf(_SC_CLK_TCK);

    clock_gettime(CLOCK_BOOTTIME, &t);
    return (uint64_t)t.tv_sec * hertz +
           (uint64_t)t.tv_nsec * hertz / 1000000000;
}

int procfs_uid(pid_t pid, uid_t *uid)
{
    char text[1024];
    const char *at;

    if (procfs_text(pid, "status", text, sizeof text) <= 0)
        return -1;
    at = strstr(text, "\nUid:");
    if (!at)
        return -1;
    *uid = (uid_t)strtoul(at + 5, NULL, 10);
    return 0;
}

int64_t procfs_own_memory(pid_t pid)
{
    char text[2048];
    const char *at;

    if (procfs_text(pid, "smaps_rollup", text, sizeof text) <= 0)
        return -1;
    at = strstr(text, "\nPss:");
    return at ? strtoll(at + 5, NULL, 10) * 1024 : -1;
}

pid_t procfs_of_pidfd(int fd)
{
    char name[32], text[512];
    const char *at;
    long pid;

    snprintf(name, sizeof name, "fdinfo/%d", fd);
    if (procfs_text(getpid(), name, text, sizeof text) <= 0)
        return 0;
    at = strstr(text, "\nPid:");
    pid = at ? strtol(at + 5, NULL, 10) : 0;
    return pid > 0 ? (pid_t)pid : 0;
}

void procfs_each(void (*each)(const procfs_t *info, void *ctx), void *ctx)
{
    DIR *dir = opendir("/proc");
    struct dirent *entry;
    procfs_t info;

    if (!dir)
        return;
    while ((entry = readdir(dir)) != NULL) {
        char *end;
        long pid = strtol(entry->d_name, &end, 10);

        if (*end == 0 && pid > 0 && procfs_read((pid_t)pid, &info) == 0)
            each(&info, ctx);
    }
    closedir(dir);
}

int procfs_mark(pid_t pid, char *mark, size_t size)
{
    static const char name[] = CONTRACT_MARK "=";
    size_t length = sizeof name - 1, used = 0;
    size_t matched = 0; /* > length: this is not the mark */
    char path[32], chunk[1024];
    ssize_t n, i;
    int fd, ended = 0;

    snprintf(path, sizeof path, "/proc/%d/environ", (int)pid);
    fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return -1;
    while (!ended && (n = read(fd, chunk, sizeof chunk)) > 0)
        for (i = 0; i < n && !ended; i++) {
            if (chunk[i] == 0) {
                ended = matched == length;
                matched = 0;
            }
            else if (matched < length && chunk[i] == name[matched])
                matched++;
            else if (matched != length)
                matched = length + 1;
            else if (used + 1 < size)
                mark[used++] = chunk[i];
        }
    close(fd);
    mark[used] = 0;
    return used > 0 ? 0 : -1;
}

/* Does it run, and is it the process that started at `start`? */
static int is_alive(pid_t pid, uint64_t start)
{
    procfs_t info;

    return procfs_read(pid, &info) == 0 && info.start == start &&
           info.state != 'Z' && info.state != 'X';
}

int procfs_pidfd(pid_t pid, uint64_t start)
{
    int fd = pid > 0 ? pidfd_open(pid, 0) : -1;

    if (fd < 0)
        return -1;
    /* This check comes after pidfd_open(), so it is about the process of the
     * descriptor. */
    if (is_alive(pid, start))
        return fd;
    close(fd);
    return -1;
}

int procfs_pidfd_of(int dirfd, const char *file, pid_t *pid)
{
    int fd = openat(dirfd, file, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
    char text[64];
    unsigned long long start;
    long number;
    ssize_t n;

    if (fd < 0)
        return -1;
    n = read(fd, text, sizeof text - 1);
    close(fd);
    text[n > 0 ? n : 0] = 0;
    if (sscanf(text, "%ld %llu", &number, &start) != 2)
        return -1;
    *pid = (pid_t)number;
    return procfs_pidfd(*pid, start);
}

int procfs_signal(pid_t pid, uint64_t start, int sign)
{
    int fd = procfs_pidfd(pid, start);
    int rv;

    if (fd < 0)
        return -1;
    rv = pidfd_send_signal(fd, sign, NULL, 0);
    close(fd);
    return rv;
}
