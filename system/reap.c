/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "system/reap.h"

#include <poll.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

#include "base/clock_ms.h"
#include "system/procfs.h"
#include "base/heartbeat.h"

#define LIMIT 50   /* ms */
#define DEATH 100  /* ms that a child has to die if it waits in the kernel */
#define DYING 1000 /* ms for any other: a busy machine may not run it */
#define PAUSE 2    /* ms */

int reap_children(reap_one_t *one, void *ctx)
{
    int64_t until = clock_ms() + LIMIT;
    siginfo_t info;
    int n;

    for (n = 0; n < REAP_MAX && clock_ms() <= until; n++) {
        memset(&info, 0, sizeof info);
        if (waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) != 0 ||
            info.si_pid == 0 || one(&info, ctx))
            return 0;
    }
    return 1;
}

/* ---- by SIGKILL ---- */

static int waits_in_kernel(pid_t child)
{
    procfs_t info;

    return procfs_read(child, &info) == 0 && info.state == 'D';
}

void reap_by_kill(pid_t *children, int n)
{
    int64_t begun = clock_ms(), took;
    int i, looks = 0;

    for (i = 0; i < n; i++)
        kill(children[i], SIGKILL);
    for (took = 0; n > 0 && took < DYING; took = clock_ms() - begun) {
        if (looks++ > 0)
            poll(NULL, 0, PAUSE);
        heartbeat();
        for (i = n; i-- > 0;)
            if (waitpid(children[i], NULL, WNOHANG) != 0 ||
                (took >= DEATH && waits_in_kernel(children[i])))
                children[i] = children[--n];
    }
}

/* ---- how it ended ---- */

const char *reap_cause(const siginfo_t *info, char buf[REAP_CAUSE_MAX])
{
    const char *name;

    if (info->si_pid == 0) {
        snprintf(buf, REAP_CAUSE_MAX, "exit status not known");
        return buf;
    }
    if (info->si_code == CLD_EXITED) {
        snprintf(buf, REAP_CAUSE_MAX, "exit code %d", info->si_status);
        return buf;
    }
    name = sigabbrev_np(info->si_status);
    snprintf(buf, REAP_CAUSE_MAX, "signal %d%s%s%s%s", info->si_status,
             name ? " (SIG" : "", name ? name : "", name ? ")" : "",
             info->si_code == CLD_DUMPED ? ", core dumped" : "");
    return buf;
}
