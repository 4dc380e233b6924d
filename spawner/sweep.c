/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "spawner/sweep.h"

#include <poll.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "spawner/cgroup.h"
#include "spawner/contract.h"
#include "spawner/log.h"
#include "spawner/procfs.h"

#define ROUNDS 500 /* of 20 ms */

typedef struct {
    const char *mark;
    int left;
    int say; /* log whom this hits */
} hunt_t;

static void hunt(const procfs_t *who, void *ctx)
{
    hunt_t *h = ctx;

    if (who->pid == getpid() || who->state == 'Z' || who->state == 'X')
        return;
    if (who->ppid != getpid() &&
        (h->mark[0] == 0 || !procfs_marked(who->pid, h->mark)))
        return;
    h->left++;
    if (procfs_signal(who->pid, who->start, SIGKILL) == 0 && h->say)
        log_line(LOG_NOTICE, "process %d was left over: SIGKILL",
                 (int)who->pid);
}

int sweep_processes(const char *instance)
{
    char mark[40];
    hunt_t h = {mark, 0, 1};
    int round;

    snprintf(mark, sizeof mark, instance[0] ? "%s-" : "%s", instance);
    for (round = 0; round < ROUNDS; round++) {
        h.left = 0;
        procfs_each(hunt, &h);
        h.left += cgroup_sweep(instance);
        while (waitpid(-1, NULL, WNOHANG) > 0)
            ;
        if (h.left == 0)
            return 0;
        h.say = 0;
        poll(NULL, 0, 20);
    }
    log_line(LOG_ERROR, "%d processes of apps survive SIGKILL", h.left);
    return h.left;
}
