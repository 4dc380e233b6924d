/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "spawner/control/control.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "shm/lock/lock.h"
#include "system/log.h"
#include "system/procfs.h"

/* The state of the lock at one moment. */
typedef struct {
    uint32_t owner;    /* thread id; 0: none */
    uint32_t sequence; /* of the pool: each lock holder changes it */
    int64_t since;     /* us: when this state was first seen */
} lock_state_t;

static int is_ours(const procfs_t *owner)
{
    struct pollfd parent = {CONTRACT_PARENT_FD, POLLIN, 0};

    /* If httpd's parent is dead, its children have another parent. */
    return owner->ppid == procfs_of_pidfd(CONTRACT_PARENT_FD) ||
           poll(&parent, 1, 0) == 1;
}

static int cannot_hold(uint32_t owner)
{
    procfs_t info;

    if ((pid_t)owner == getpid())
        return 1;
    /* If the thread cannot be read, for example because there are no
     * descriptors, it may hold the lock. */
    if (procfs_read((pid_t)owner, &info) != 0)
        return kill((pid_t)owner, 0) != 0 && errno == ESRCH;
    return !is_ours(&info) || info.state == 'S' || info.state == 'I';
}

static lock_state_t read_state(const spawner_t *s)
{
    const apl_header_t *h = s->shm.header;
    lock_state_t now = {apl_lock_holder(&h->lock),
                        __atomic_load_n(&h->sequence, __ATOMIC_RELAXED),
                        s->now};

    return now;
}

static int is_same(const lock_state_t *a, const lock_state_t *b)
{
    return a->owner == b->owner && a->sequence == b->sequence;
}

void lock_rescue_check(spawner_t *s)
{
    static lock_state_t seen;
    lock_state_t now = read_state(s), again;

    if (now.owner == 0 || !is_same(&now, &seen)) {
        seen = now;
        return;
    }
    if (s->now - seen.since < SECOND || !cannot_hold(now.owner))
        return;
    /* To read /proc takes time. Meanwhile the thread may have given the lock
     * back and taken it again. */
    again = read_state(s);
    if (!is_same(&again, &now))
        return;
    log_line(LOG_ERROR,
             "the pool's lock named thread %u, which does not hold it: the "
             "lock is free again",
             now.owner);
    apl_lock_break(&s->shm.header->lock, now.owner);
    memset(&seen, 0, sizeof seen);
}
