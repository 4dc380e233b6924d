/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "system/kill_instance.h"

#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/contract.h"
#include "base/heartbeat.h"
#include "system/cgroup.h"
#include "system/log.h"
#include "system/environ_scan.h"
#include "base/clock_ms.h"
#include "system/procfs.h"
#include "system/reap.h"

#define LIMIT    10000 /* ms */
#define PATIENCE 2000  /* ms for processes that wait in the kernel */
#define PAUSE    20    /* ms */

typedef struct {
    const char *mark;
    int left;
    int dying; /* how many of them do not wait in the kernel */
    int say;   /* log which processes are killed */
} hunt_t;

static int runs(const procfs_t *info)
{
    return info->pid != getpid() && info->state != 'Z' && info->state != 'X';
}

static void end(hunt_t *h, const procfs_t *info)
{
    h->left++;
    h->dying += info->state != 'D';
    if (procfs_signal(info->pid, info->start, SIGKILL) == 0 && h->say)
        log_line(LOG_NOTICE, "process %d was left over: SIGKILL",
                 (int)info->pid);
}

/* A log writer: a process of root's, so it is no app. It may wait for the disk
 * of an app. */
static int is_writer(const procfs_t *info)
{
    uid_t uid;

    return strcmp(info->name, CONTRACT_LOG_PROGRAM) == 0 &&
           procfs_uid(info->pid, &uid) == 0 && uid == geteuid();
}

static void end_child(const procfs_t *info, void *ctx)
{
    if (!runs(info) || info->ppid != getpid())
        return;
    if (is_writer(info)) /* killed, but nothing waits for its end */
        procfs_signal(info->pid, info->start, SIGKILL);
    else
        end(ctx, info);
}

static int is_stranger(const procfs_t *info, void *ctx)
{
    (void)ctx;
    return runs(info) && info->ppid != getpid();
}

static void end_marked(const procfs_t *info, const char *mark, void *ctx)
{
    hunt_t *h = ctx;

    if (mark && strncmp(mark, h->mark, strlen(h->mark)) == 0)
        end(h, info);
    else if (!mark && h->say)
        log_line(LOG_WARN,
                 "the environment of process %d (%s) cannot be read: it is "
                 "left alone",
                 (int)info->pid, info->name);
}

int kill_instance(const char *instance)
{
    int64_t now = clock_ms(), until = now + LIMIT, sunk = now + PATIENCE;
    char mark[40];
    hunt_t h = {mark, 0, 0, 1};
    int n;

    snprintf(mark, sizeof mark, "%s-", instance);
    do {
        heartbeat();
        h.left = h.dying = 0;
        procfs_each(end_child, &h);
        if (instance[0])
            environ_scan_read(is_stranger, end_marked, &h);
        h.left += cgroup_sweep(instance);
        for (n = 0; n < REAP_MAX && waitpid(-1, NULL, WNOHANG) > 0; n++)
            ;
        if (h.left == 0)
            return 0;
        h.say = 0;
        poll(NULL, 0, PAUSE);
        now = clock_ms();
        if (h.dying > 0)
            sunk = now + PATIENCE;
    } while (now < until && now < sunk);
    log_line(LOG_ERROR, "%d processes of apps survive SIGKILL", h.left);
    return h.left;
}
