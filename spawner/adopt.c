/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "spawner/adopt.h"

#include <string.h>

#include "spawner/beat.h"
#include "spawner/hunt.h"
#include "spawner/launch.h"
#include "spawner/life.h"
#include "spawner/log.h"
#include "spawner/notify.h"
#include "spawner/process.h"
#include "spawner/procfs.h"
#include "spawner/stray.h"

/* The record's process, if it still is that one. */
static int open_leader(const registry_record_t *is)
{
    uid_t uid;
    int fd = procfs_pidfd(is->pid, is->start);

    if (fd < 0)
        return -1;
    /* While it boots it may be root yet. */
    if (is->state == REGISTRY_BOOTING || is->uid == UINT32_MAX ||
        (procfs_uid(is->pid, &uid) == 0 && uid == is->uid))
        return fd;
    loop_drop(&(loop_source_t){.fd = fd});
    return -1;
}

/* Where it stands. The segment was told before the registry. */
static void find_phase(spawner_t *s, process_t *p)
{
    apl_condition_t is;

    p->listed = apl_supervise_condition(&s->shm, p->is.id, &is) == APR_SUCCESS;
    p->deadline = p->is.deadline;
    switch (p->is.state) {
    case REGISTRY_ENDING:
        p->phase = PHASE_ENDING;
        return;
    case REGISTRY_LIVE:
        p->phase = PHASE_LIVE;
        break;
    default:
        p->phase = p->listed && is.state == APL_PROCESS_LIVE ? PHASE_LIVE
                                                             : PHASE_BOOTING;
    }
    if (p->phase == PHASE_LIVE)
        p->deadline = 0;
    /* Not in the segment, but it ought to be: obey() puts it back. */
    p->listed = 1;
}

static void reopen(spawner_t *s, process_t *p)
{
    runtime_path_t path;
    int fd = runtime_output_again(&s->rt, p->is.id);

    if (fd >= 0)
        loop_add(&p->fifo, fd, EPOLLIN, launch_output, p);
    /* A datagram socket cannot be taken over: bind anew, give it away again. */
    fd = runtime_notify(&s->rt, p->is.id);
    if (fd < 0 || loop_add(&p->notify, fd, EPOLLIN, notify_ready, p) != 0)
        return;
    runtime_path(&s->rt, CONTRACT_NOTIFY, p->is.id, path);
    runtime_give(path, p->is.uid, p->is.gid);
}

static void adopt(spawner_t *s, uint32_t index, const registry_record_t *is)
{
    process_t *p = process_new(s, is->id, is->name);
    siginfo_t unknown;
    int fd;

    if (!p)
        return;
    p->record = index;
    p->is = *is;
    p->adopted = s->now;
    find_phase(s, p);
    reopen(s, p);
    if (p->phase == PHASE_BOOTING)
        output_keep(&p->output);
    fd = open_leader(is);
    if (fd >= 0 && loop_add(&p->pidfd, fd, EPOLLIN, life_pidfd, p) == 0) {
        log_line(LOG_INFO, PROCESS_FMT " is taken over", PROCESS_NAME(p));
        return;
    }
    /* It died while nobody looked; of its group only the mark tells. */
    p->gone = 1;
    memset(&unknown, 0, sizeof unknown);
    life_died(s, p, &unknown);
}

/* What was made for a process that was not recorded in time. */
static void remove_stray(uint64_t id, void *ctx)
{
    const spawner_t *s = ctx;

    if (!process_find(s, id))
        runtime_remove(&s->rt, id);
}

void adopt_all(spawner_t *s)
{
    registry_record_t is;
    uint32_t i, n = 0, broken = 0;
    int what;

    for (i = 0; (what = registry_read(i, &is)) != REGISTRY_END; i++) {
        beat();
        broken += what == REGISTRY_BROKEN;
        if (what == REGISTRY_RECORD && !process_find(s, is.id)) {
            adopt(s, i, &is);
            n = i + 1;
        }
        else if (what != REGISTRY_EMPTY)
            registry_clear(i);
    }
    registry_cut(n);
    if (broken > 0)
        log_line(LOG_ERROR,
                 "%u records of %s/%s are damaged: the processes that were "
                 "in them are ended",
                 broken, s->rt.dir, CONTRACT_REGISTRY);
    hunt_strays(s);
    stray_look(s, 1);
    runtime_each(&s->rt, remove_stray, s);
}
