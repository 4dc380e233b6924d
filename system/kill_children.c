/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "system/kill_children.h"

#include <poll.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/wait.h>

#include "system/procfs.h"
#include "base/clock_ms.h"
#include "base/heartbeat.h"

#define DEATH 100  /* ms that a child has to die if it waits in the kernel */
#define DYING 1000 /* ms for any other: a busy machine may not run it */
#define PAUSE 2    /* ms */

static int waits_in_kernel(pid_t child)
{
    procfs_t info;

    return procfs_read(child, &info) == 0 && info.state == 'D';
}

void kill_children(pid_t *children, int n)
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
