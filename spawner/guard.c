/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "spawner/guard.h"

#include <poll.h>
#include <string.h>
#include <unistd.h>

#include "shm/lock.h"
#include "spawner/log.h"
#include "spawner/procfs.h"

/* A look at the lock. */
typedef struct {
    uint32_t owner;    /* thread id; 0: nobody */
    uint32_t sequence; /* of the pool: somebody was inside since, or not */
    int64_t since;     /* us: when this was first seen */
} look_t;

static int is_ours(const procfs_t *owner)
{
    struct pollfd parent = {CONTRACT_PARENT_FD, POLLIN, 0};

    /* Orphans have another parent than httpd's. */
    return owner->ppid == procfs_of_pidfd(CONTRACT_PARENT_FD) ||
           poll(&parent, 1, 0) == 1;
}

static int cannot_hold(uint32_t owner)
{
    procfs_t who;

    return (pid_t)owner == getpid() || procfs_read((pid_t)owner, &who) != 0 ||
           !is_ours(&who) || who.state == 'S' || who.state == 'I';
}

void guard_look(spawner_t *s)
{
    static look_t seen;
    apl_header_t *h = s->shm.header;
    look_t now = {apl_lock_owner(&h->lock),
                  __atomic_load_n(&h->sequence, __ATOMIC_RELAXED), s->now};

    if (now.owner == 0 || now.owner != seen.owner ||
        now.sequence != seen.sequence) {
        seen = now;
        return;
    }
    if (s->now - seen.since < SECOND || !cannot_hold(now.owner))
        return;
    log_line(LOG_ERROR,
             "the pool's lock was in the name of %u, who does not hold it: it "
             "is free again",
             now.owner);
    apl_lock_break(&h->lock, now.owner);
    memset(&seen, 0, sizeof seen);
}
