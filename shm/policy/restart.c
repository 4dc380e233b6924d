/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "shm/policy/restart.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "shm/slots/group.h"

/* For fixed facts before it, each other `fact` gives another number. */
static uint64_t mix(uint64_t stamp, uint64_t fact)
{
    stamp = (stamp ^ fact) * 0x9e3779b97f4a7c15u;
    return stamp ^ stamp >> 32;
}

static uint64_t mix_time(uint64_t stamp, const struct timespec *t)
{
    return mix(stamp, (uint64_t)t->tv_sec * 1000000000 + (uint64_t)t->tv_nsec);
}

uint64_t apl_restart_stamp(const char *dir)
{
    char path[4096];
    struct stat st;
    uint64_t stamp = 0;

    snprintf(path, sizeof path, "%s/restart.txt", dir);
    if (stat(path, &st) != 0)
        return errno == ENOENT || errno == ENOTDIR ? APL_STAMP_NO_FILE
                                                   : APL_STAMP_UNKNOWN;
    stamp = mix(stamp, st.st_dev);
    stamp = mix(stamp, st.st_ino);
    stamp = mix(stamp, (uint64_t)st.st_size);
    stamp = mix_time(stamp, &st.st_mtim);
    stamp = mix_time(stamp, &st.st_ctim);
    return stamp > APL_STAMP_NO_FILE ? stamp : APL_STAMP_NO_FILE + 1;
}

static int always(const char *dir)
{
    char path[4096];
    struct stat st;

    snprintf(path, sizeof path, "%s/always_restart.txt", dir);
    return stat(path, &st) == 0;
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
    look->stamp.file = apl_restart_stamp(dir);
    look->stamp.always = (uint32_t)always(dir);
    look->stamp.unused = 0;
    return 1;
}

/* Only a template of the present code forks processes, and these have its
 * code. */
static const apl_template_t *template_of(const apl_group_t *group)
{
    const apl_template_t *t = &group->template;

    return t->state != APL_TEMPLATE_NONE && t->code == group->n_restarts ? t
                                                                         : NULL;
}

/* Was any code of the group loaded while there was another file, or none? A
 * booting process counts, because it may have read the old code. A failed start
 * left no process that could be asked. */
static int has_other_code(const apl_pool_t *pool, const apl_group_t *group,
                          uint64_t file)
{
    uint32_t i, top = apl_top(&pool->header->top_process, pool->n.processes);
    const apl_template_t *t = template_of(group);

    if (apl_group_fails(group) ||
        (t && t->stamp != APL_STAMP_UNKNOWN && t->stamp != file))
        return 1;
    for (i = 1; i <= top; i++) {
        const apl_process_t *p = &pool->processes[i];

        if (p->group != APL_GROUP_INDEX(pool, group) || p->stamp == file)
            continue;
        if (p->state == APL_PROCESS_LIVE ||
            (p->state == APL_PROCESS_STARTING && p->stamp != APL_STAMP_UNKNOWN))
            return 1;
    }
    return 0;
}

/* Is something being started that has perhaps looked at the file already, and
 * has not been heard yet? A process that is not forked yet looks later. */
static int is_undecided(const apl_pool_t *pool, const apl_group_t *group)
{
    uint32_t i, top = apl_top(&pool->header->top_process, pool->n.processes);
    const apl_template_t *t = template_of(group);

    if (t && t->stamp == APL_STAMP_UNKNOWN)
        return 1;
    for (i = 1; i <= top; i++) {
        const apl_process_t *p = &pool->processes[i];

        if (p->group == APL_GROUP_INDEX(pool, group) &&
            p->state == APL_PROCESS_STARTING && p->identity.pid != 0 &&
            p->stamp == APL_STAMP_UNKNOWN)
            return 1;
    }
    return 0;
}

int apl_restart_due(const apl_pool_t *pool, const apl_group_t *group,
                    const apl_restart_seen_t *look)
{
    uint64_t file = look->stamp.file;

    /* If the numbers differ, another child has looked later. A file that was
     * removed changes nothing. */
    if (look->seq != group->stamp_seq || file == APL_STAMP_UNKNOWN ||
        file == APL_STAMP_NO_FILE || file == group->stamp.file)
        return 0;
    return group->stamp.file != APL_STAMP_UNKNOWN ||
           has_other_code(pool, group, file);
}

void apl_restart_record(apl_lock_token_t *token, apl_group_t *group,
                        const apl_restart_seen_t *look)
{
    apl_stamp_t seen = look->stamp;

    if (look->seq != group->stamp_seq)
        return;
    group->stamp_at = look->at;
    if (seen.file == APL_STAMP_UNKNOWN)
        seen = group->stamp; /* it could not be seen: as before */
    if (group->stamp.file == APL_STAMP_UNKNOWN &&
        seen.file != APL_STAMP_NO_FILE && is_undecided(token->pool, group))
        seen.file = APL_STAMP_UNKNOWN;
    if (look->seq != 0 && memcmp(&group->stamp, &seen, sizeof seen) == 0)
        return;
    group->stamp = seen;
    APL_CRASH_POINT("restart_stamp");
    __atomic_store_n(&group->stamp_seq, group->stamp_seq + 1, __ATOMIC_RELEASE);
}
