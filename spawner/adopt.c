/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "spawner/spawner.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "shm/verbs/reconcile.h"
#include "base/heartbeat.h"
#include "spawner/process/mark_scan.h"
#include "spawner/start/start.h"
#include "spawner/end/end.h"
#include "spawner/process/leftovers.h"
#include "system/log.h"
#include "spawner/output/output.h"
#include "spawner/control/control.h"
#include "spawner/process/process.h"
#include "system/procfs.h"

enum { LEADER_DEAD, LEADER_RUNS, LEADER_UNKNOWN };

static uint32_t unwatched; /* processes that wait for a descriptor */
static int64_t again;      /* us: no other try for them before that */

/* Does the process of the record still run? If there are no descriptors to find
 * that out, it does not count as dead. @param fd its pidfd, if it runs */
static int find_leader(const registry_record_t *is, int *fd)
{
    uid_t uid;

    *fd = procfs_pidfd(is->pid, is->start);
    if (*fd >= 0) {
        int known = procfs_uid(is->pid, &uid) == 0;

        /* While it boots it may still be root. */
        if (is->state == REGISTRY_BOOTING || is->uid == UINT32_MAX ||
            (known && uid == is->uid))
            return LEADER_RUNS;
        close(*fd);
        if (known)
            return LEADER_DEAD;
    }
    return procfs_dead(is->pid, is->start) ? LEADER_DEAD : LEADER_UNKNOWN;
}

/* Find its phase. The segment was changed before the registry. */
static void find_phase(spawner_t *s, process_t *p)
{
    apl_condition_t is;

    p->slot.listed =
        apl_reconcile_condition(&s->shm, p->is.id, &is) == APR_SUCCESS;
    p->deadline = p->is.deadline;
    switch (p->is.state) {
    case REGISTRY_ENDING:
        p->phase = PHASE_ENDING;
        return;
    case REGISTRY_LIVE:
        p->phase = PHASE_LIVE;
        break;
    default:
        p->phase = p->slot.listed && is.state == APL_PROCESS_LIVE
                       ? PHASE_LIVE
                       : PHASE_BOOTING;
    }
    if (p->phase == PHASE_LIVE)
        p->deadline = 0;
    /* If the segment has lost it, life_follow_slot() puts it back. */
    p->slot.listed = !state_is_template(p);
}

static int is_short(void)
{
    return errno == EMFILE || errno == ENFILE || errno == ENOMEM;
}

static int reopen_output(spawner_t *s, process_t *p)
{
    int fd = process_files_output_again(&s->rt, p->is.id);

    if (fd >= 0 &&
        loop_add(&p->fifo, fd, EPOLLIN, start_reports_output, p) == 0)
        return 0;
    return is_short() ? -1 : 0;
}

static void reopen_notify(spawner_t *s, process_t *p)
{
    process_files_path_t path;
    int fd;

    /* A datagram socket cannot be taken over. So bind a new one, and give it to
     * the user again. */
    fd = process_files_notify(&s->rt, p->is.id);
    if (fd < 0 || loop_add(&p->notify, fd, EPOLLIN, sd_notify_read, p) != 0)
        return;
    process_files_path(&s->rt, CONTRACT_NOTIFY, p->is.id, path);
    process_files_give(path, p->is.uid, p->is.gid);
}

/* @return -1: there are no descriptors */
static int watch(spawner_t *s, process_t *p)
{
    siginfo_t unknown;
    int fd, is;

    if (p->fifo.fd < 0 && reopen_output(s, p) != 0)
        return -1;
    if (p->is.output_only) {
        /* If its last writer is gone by now, the loop does not say so. */
        start_reports_output(p, 0);
        return 0;
    }
    is = find_leader(&p->is, &fd);
    if (is == LEADER_UNKNOWN ||
        (is == LEADER_RUNS &&
         loop_add(&p->pidfd, fd, EPOLLIN, life_pidfd, p) != 0)) {
        loop_drop(&p->fifo); /* the spawner itself needs a descriptor */
        return -1;
    }
    reopen_notify(s, p);
    if (is == LEADER_RUNS) {
        app_log(p, LOG_INFO, "is adopted");
        return 0;
    }
    /* It died while no spawner ran. Processes that it has started are found
     * only by their mark. */
    p->gone = 1;
    memset(&unknown, 0, sizeof unknown);
    life_died(s, p, &unknown);
    return 0;
}

static void try_to_watch(spawner_t *s, process_t *p)
{
    p->unwatched = watch(s, p) != 0;
    unwatched += p->unwatched != 0;
}

static void adopt(spawner_t *s, uint32_t index, const registry_record_t *is)
{
    process_t *p = process_adopted(s, index, is);

    if (!p)
        return;
    apply_table_configure(s, p);
    p->adopted_at = s->now;
    find_phase(s, p);
    if (p->phase == PHASE_BOOTING)
        last_lines_keep(&p->output);
    p->gone = p->is.output_only != 0;
    try_to_watch(s, p);
    if (state_is_template(p)) {
        /* The last spawner has sent its orders. A process that it forked now
         * would not be a child of this spawner. */
        p->template.noted = 1;
        if (!p->gone)
            phase_stop(s, p, "the spawner that started it died");
        return;
    }
    /* Its report is lost: nobody knows its protocol, nor which restart.txt its
     * code belongs to. */
    if (p->phase == PHASE_BOOTING && p->is.stamp == APL_STAMP_UNKNOWN)
        phase_stop(s, p, "the spawner that started it died");
}

void adopt_tick(spawner_t *s)
{
    process_t *p;

    if (unwatched == 0)
        return;
    if (s->now >= again) {
        again = s->now + SECOND;
        unwatched = 0;
        for (p = s->processes; p; p = p->next)
            if (p->unwatched && !p->done)
                try_to_watch(s, p);
    }
    state_wake(s, again);
}

/* Remove the files of a process that has no record, because the spawner died
 * before it wrote one. */
static void remove_stray(uint64_t id, void *ctx)
{
    spawner_t *s = ctx;

    if (!process_find(s, id) && process_files_remove(&s->rt, id))
        leftovers_note_dir(s);
}

void adopt_all(spawner_t *s)
{
    registry_record_t is;
    uint32_t i, n = 0, broken = 0;
    int what;

    for (i = 0; (what = registry_read(i, &is)) != REGISTRY_END; i++) {
        heartbeat();
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
    if (unwatched > 0)
        log_line(LOG_ERROR,
                 "there are no descriptors to watch %u processes of apps: they "
                 "continue to serve, and are adopted as soon as there are some",
                 unwatched);
    mark_scan_kill_strays(s);
    leftovers_check_cgroups(s, 1);
    process_files_each(&s->rt, remove_stray, s);
}
