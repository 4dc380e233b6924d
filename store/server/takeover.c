/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "store/server/takeover.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include "system/procfs.h"
#include "base/clock_ms.h"
#include "base/contract.h"
#include "base/heartbeat.h"
#include "base/store_format.h"
#include "store/note.h"

_Static_assert(CONTRACT_STORE_FORMAT == STORE_VERSION,
               "httpd compares it before it shares the memfd");

#define LOOK  5    /* ms from one try to the next */
#define LATE  1000 /* ms: then the log says that it waits */

/* of the memory, for locks: one for this store, the others for stores that were
 * killed and have not ended yet */
#define BYTES 64
#define HURRY BYTES /* the byte for "hurry", which an older build looks at */

static int memory = -1; /* the memfd that this store waits for, or has */
static int left = -1;   /* the file that the mailbox had */

/* ---- one store at a time ---- */

/* @return 1: this process has the lock of that byte; 0: `*owner` has it, or had
 * it (0); -1: errno */
static int lock_byte(int fd, off_t at, pid_t *owner)
{
    struct flock lock = {
        .l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = at, .l_len = 1};

    if (fcntl(fd, F_SETLK, &lock) == 0)
        return 1;
    if (errno != EAGAIN && errno != EACCES)
        return -1;
    if (fcntl(fd, F_GETLK, &lock) != 0)
        return -1;
    *owner = lock.l_type == F_UNLCK ? 0 : lock.l_pid;
    return 0;
}

static void unlock(int fd, off_t at)
{
    struct flock lock = {
        .l_type = F_UNLCK, .l_whence = SEEK_SET, .l_start = at, .l_len = 1};

    fcntl(fd, F_SETLK, &lock);
}

/* Has a process that runs the lock of this byte? Then it is `*owner`. */
static int is_taken(int fd, off_t at, pid_t *owner)
{
    struct flock lock = {
        .l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = at, .l_len = 1};

    if (fcntl(fd, F_GETLK, &lock) != 0 || lock.l_type == F_UNLCK ||
        procfs_is_killed(lock.l_pid))
        return 0;
    *owner = lock.l_pid;
    return 1;
}

/* A store that was killed may keep its lock for ever. The next one takes the
 * lock of the next byte. A byte before may become free later, so a store that
 * has a lock looks at all other bytes. If two stores meet, the one with the
 * higher byte gives it up.
 * @return 1: this process has the memory; 0: `*owner` has it; -1: errno */
static int try_lock(int fd, pid_t *owner)
{
    off_t own, at;
    int rv = 0;

    for (own = 0; own < BYTES; own++) {
        rv = lock_byte(fd, own, owner);
        if (rv != 0 || *owner <= 0 || !procfs_is_killed(*owner))
            break;
    }
    for (at = 0; rv > 0 && at < BYTES; at++)
        if (at != own && is_taken(fd, at, owner)) {
            if (at < own)
                unlock(fd, own);
            rv = 0;
        }
    return rv;
}

int store_takeover_wait(int items, int (*is_wanted)(void),
                        int (*is_hurried)(void))
{
    int64_t began = clock_ms();
    int rv, is_late = 0;
    pid_t owner = 0, other;

    memory = items;
    while ((rv = try_lock(items, &owner)) == 0) {
        if (!is_wanted())
            return 0;
        if (is_hurried())
            lock_byte(items, HURRY, &other);
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

/* ---- values that an older build had in files ---- */

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
