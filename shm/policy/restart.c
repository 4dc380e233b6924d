/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "shm/policy/restart.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

/* The result is only compared, so it may wrap. */
static int64_t nanoseconds(const struct timespec *t)
{
    return (int64_t)((uint64_t)t->tv_sec * 1000000000 + (uint64_t)t->tv_nsec);
}

/* The age of a file in us, by the clock of file times. */
static int64_t file_age(const struct timespec *t)
{
    struct timespec now;

    clock_gettime(CLOCK_REALTIME, &now);
    return (nanoseconds(&now) - nanoseconds(t)) / 1000;
}

static void look_at_files(const char *dir, int64_t now,
                          apl_restart_seen_t *look)
{
    apl_stamp_t *stamp = &look->stamp;
    char path[4096];
    struct stat st;

    memset(stamp, 0, sizeof *stamp);
    look->changed = 0;
    snprintf(path, sizeof path, "%s/restart.txt", dir);
    if (stat(path, &st) == 0) {
        stamp->exists = 1;
        stamp->mtime_ns = nanoseconds(&st.st_mtim);
        stamp->ctime_ns = nanoseconds(&st.st_ctim);
        stamp->inode = st.st_ino;
        stamp->size = (uint64_t)st.st_size;
        look->changed = now - file_age(&st.st_ctim);
    }
    snprintf(path, sizeof path, "%s/always_restart.txt", dir);
    stamp->always = stat(path, &st) == 0;
}

int apl_restart_poll(const apl_pool_t *pool, uint32_t group, const char *dir,
                     int64_t now, apl_restart_seen_t *look)
{
    apl_group_t *g = apl_group_at(pool, group);

    look->seq = 0;
    look->at = now;
    if (g) {
        int64_t last = __atomic_load_n(&g->stamp_at, __ATOMIC_RELAXED);

        look->seq = __atomic_load_n(&g->stamp_seq, __ATOMIC_ACQUIRE);
        /* A time in the future is damage. */
        if (look->seq != 0 && last <= now &&
            now - last < g->options.check_interval)
            return 0;
    }
    look_at_files(dir, now, look);
    return 1;
}

/* Does the group have a process from before that time? A booting process
 * counts, because it may have read the old code. So does a template: the
 * processes that it has forked since then have its code. */
static int has_process_from_before(const apl_pool_t *pool,
                                   const apl_group_t *group, int64_t then)
{
    uint32_t i, top = apl_top(&pool->header->top_process, pool->n.processes);

    if (group->template.state != APL_TEMPLATE_NONE &&
        group->template.started < then)
        return 1;
    for (i = 1; i <= top; i++) {
        const apl_process_t *p = &pool->processes[i];

        if (p->group == APL_GROUP_INDEX(pool, group) && p->started < then &&
            (p->state == APL_PROCESS_STARTING || p->state == APL_PROCESS_LIVE))
            return 1;
    }
    return 0;
}

int apl_restart_due(const apl_pool_t *pool, const apl_group_t *group,
                    const apl_restart_seen_t *look)
{
    /* If the numbers differ, another child has looked later. A file that was
     * removed changes nothing. A file that is older than all processes and the
     * template is only recorded. */
    if (look->seq != group->stamp_seq || !look->stamp.exists)
        return 0;
    if (look->seq == 0)
        return has_process_from_before(pool, group, look->changed);
    return group->stamp.exists == 0 ||
           group->stamp.mtime_ns != look->stamp.mtime_ns ||
           group->stamp.ctime_ns != look->stamp.ctime_ns ||
           group->stamp.inode != look->stamp.inode ||
           group->stamp.size != look->stamp.size;
}

void apl_restart_record(apl_lock_token_t *token, apl_group_t *group,
                        const apl_restart_seen_t *look)
{
    (void)token;
    if (look->seq != group->stamp_seq)
        return;
    group->stamp_at = look->at;
    if (look->seq != 0 &&
        memcmp(&group->stamp, &look->stamp, sizeof group->stamp) == 0)
        return;
    group->stamp = look->stamp;
    APL_CRASH_POINT("restart_stamp");
    __atomic_store_n(&group->stamp_seq, group->stamp_seq + 1, __ATOMIC_RELEASE);
}
