/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "store/server/takeover.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include "spawner/common/procfs.h"
#include "spawner/shared/clock_ms.h"
#include "spawner/shared/contract.h"
#include "spawner/shared/heartbeat.h"
#include "store/format.h"
#include "store/note.h"

_Static_assert(CONTRACT_STORE_FORMAT == STORE_VERSION,
               "httpd compares it before it shares the memfd");

#define LOOK 5    /* ms from one try to the next */
#define LATE 1000 /* ms: then the log says that it waits */

static int left = -1; /* the file that the mailbox had */

/* ---- one store at a time ---- */

/* @return 1: this process has the lock; 0: `*owner` has it; -1: errno */
static int try_lock(int fd, pid_t *owner)
{
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_len = 1};

    if (fcntl(fd, F_SETLK, &lock) == 0)
        return 1;
    if (errno != EAGAIN && errno != EACCES)
        return -1;
    if (fcntl(fd, F_GETLK, &lock) != 0)
        return -1;
    *owner = lock.l_type == F_UNLCK ? 0 : lock.l_pid;
    return 0;
}

/* Its owner holds the lock as long as the kernel keeps it. */
static int never_runs_again(pid_t owner)
{
    return owner > 0 && procfs_is_killed(owner);
}

int store_takeover_wait(int items, int (*is_wanted)(void))
{
    int64_t began = clock_ms();
    int rv, is_late = 0;
    pid_t owner = 0;

    while ((rv = try_lock(items, &owner)) == 0 && !never_runs_again(owner)) {
        if (!is_wanted())
            return 0;
        if (!is_late && clock_ms() - began >= LATE) {
            is_late = 1;
            store_note(STORE_NOTICE, "the store waits for the end of store %d",
                       (int)owner);
        }
        heartbeat();
        poll(NULL, 0, LOOK);
    }
    if (rv < 0)
        return -1;
    /* The other one may have ended for a third. */
    return is_wanted();
}

/* ---- values in files ---- */

int store_takeover_take(int fd)
{
    struct stat st;

    if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode))
        return 0;
    if (left >= 0)
        close(left);
    left = fd;
    return 1;
}

int store_takeover_left(void)
{
    int fd = left;

    left = -1;
    return fd;
}
