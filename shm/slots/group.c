/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "shm/slots/group.h"

#include <string.h>

#include "shm/format/heap.h"
#include "shm/slots/hung.h"
#include "shm/format/slot.h"
#include "shm/slots/numbers.h"
#include "shm/slots/young.h"

uint64_t apl_group_key(const char *name)
{
    uint64_t key = 0xcbf29ce484222325u;

    for (; *name; name++)
        key = (key ^ (unsigned char)*name) * 0x100000001b3u;
    return key;
}

apl_link_t *apl_group_bucket(const apl_pool_t *pool, uint64_t key)
{
    return &pool->header->buckets[(key ^ key >> 32) % APL_BUCKETS];
}

/* The number of groups that a bucket may have. Names come from the
 * configuration of httpd. No attacker chooses them, so their hashes are spread
 * evenly. More groups in one bucket are damage, and would make each walk
 * long. */
static uint32_t bucket_limit(const apl_pool_t *pool)
{
    return 32 + 4 * (pool->n.groups / APL_BUCKETS);
}

/* What a walk along a bucket has met when it finds nothing. */
typedef struct {
    uint32_t n;   /* groups */
    uint32_t end; /* where it ended: at its bucket; else the list is broken */
} miss_t;

/* This walk does not use apl_list_next(), which reports damage. A caller
 * without the lock may meet a list that is being changed, and that is no
 * damage. */
static apl_group_t *look_up(apl_pool_t *pool, uint64_t key, const char *name,
                            miss_t *miss)
{
    const apl_link_t *bucket = apl_group_bucket(pool, key);
    uint32_t limit = bucket_limit(pool);

    miss->end = apl_once(bucket->next);
    for (miss->n = 0; miss->n < limit; miss->n++) {
        apl_group_t *g = APL_GROUP_OF(pool, miss->end, bucket);

        if (!g)
            break;
        if (g->state == APL_GROUP_USED && g->key == key &&
            strncmp(g->name, name, sizeof g->name - 1) == 0)
            return g;
        miss->end = apl_once(g->bucket.next);
    }
    return NULL;
}

uint32_t apl_group_index(apl_pool_t *pool, uint64_t key, const char *name)
{
    miss_t miss;
    const apl_group_t *g = look_up(pool, key, name, &miss);

    return g ? APL_GROUP_INDEX(pool, g) : 0;
}

apl_group_t *apl_group_find(apl_lock_token_t *token, uint64_t key,
                            const char *name)
{
    apl_pool_t *pool = token->pool;
    miss_t miss;
    apl_group_t *g = look_up(pool, key, name, &miss);

    if (!g && miss.end != APL_OFFSET(pool, apl_group_bucket(pool, key)))
        pool->damaged = 1;
    return g;
}

int apl_group_can_add(apl_pool_t *pool, uint64_t key, const char *name)
{
    miss_t miss;

    return !look_up(pool, key, name, &miss) && miss.n < bucket_limit(pool);
}

void apl_group_link(apl_pool_t *pool, apl_group_t *group)
{
    apl_list_append(pool, apl_group_bucket(pool, group->key), &group->bucket);
}

static void copy_text(char *to, size_t size, const char *from)
{
    size_t n = strlen(from);

    if (n > size - 1)
        n = size - 1;
    memcpy(to, from, n);
    memset(to + n, 0, size - n);
}

static apl_group_t *add(apl_lock_token_t *token, const apl_app_t *app)
{
    apl_pool_t *pool = token->pool;
    apl_group_t *g = apl_slot_take(pool, apl_slots_groups(pool));

    if (!g)
        return NULL;
    g->generation++;
    APL_CRASH_POINT("group_generation");
    memset(&g->key, 0, sizeof *g - offsetof(apl_group_t, key));
    apl_numbers_forget(token, g);
    g->key = app->key;
    g->revision = 1;
    g->options = app->options;
    copy_text(g->name, sizeof g->name, app->name);
    copy_text(g->root, sizeof g->root, app->root);
    apl_list_init(pool, &g->processes);
    apl_list_init(pool, &g->idle);
    apl_list_init(pool, &g->queue);
    APL_CRASH_POINT("group_filled");
    g->state = APL_GROUP_USED;
    APL_CRASH_POINT("group_used"); /* seen: it exists, in no bucket yet */
    apl_group_link(pool, g);
    return g;
}

apl_group_t *apl_group_find_or_add(apl_lock_token_t *token,
                                   const apl_app_t *app)
{
    apl_pool_t *pool = token->pool;
    apl_group_t *g = apl_group_find(token, app->key, app->name);

    /* After damage the group may exist although it was not found. */
    if (g || pool->damaged || !apl_group_can_add(pool, app->key, app->name))
        return g;
    return add(token, app);
}

void apl_group_free(apl_lock_token_t *token, apl_group_t *group)
{
    apl_pool_t *pool = token->pool;

    group->state = APL_GROUP_FREE;
    APL_CRASH_POINT("group_free");
    apl_list_remove(pool, &group->turn);
    apl_list_remove(pool, &group->above);
    apl_list_remove(pool, &group->bucket);
    apl_slot_put(pool, apl_slots_groups(pool), group);
}

uint32_t apl_group_limit(const apl_group_t *group, const apl_process_t *process)
{
    const apl_options_t *o = &group->options;
    uint32_t n = apl_group_concurrency(group, process);

    if (n == 0)
        return UINT32_MAX;
    if (o->global_queue)
        return n;
    if (o->max_queue == 0 || o->max_queue > UINT32_MAX - n)
        return UINT32_MAX;
    return n + o->max_queue;
}

int apl_group_has_room(const apl_group_t *group, const apl_process_t *process)
{
    return process->sessions > 0 &&
           process->sessions < apl_group_limit(group, process);
}

/* The limit of sessions has changed. So other processes belong into `order`. */
static void reorder(apl_pool_t *pool, apl_group_t *group)
{
    apl_walk_t it;
    uint32_t at;

    group->order = 0;
    it = apl_list_walk(pool, &group->processes, pool->n.processes);
    /* Stop at damage: the repair rebuilds the heap. In a broken heap, each
     * insertion would walk over all nodes. */
    while (!pool->damaged && (at = apl_list_next(pool, &it)) != 0) {
        apl_process_t *p = APL_PROCESS_OF(pool, at, member);

        if (!p)
            continue;
        memset(&p->node, 0, sizeof p->node);
        if (apl_group_has_room(group, p))
            apl_heap_insert(pool, &group->order, p);
    }
}

int apl_group_configure(apl_lock_token_t *token, apl_group_t *group,
                        const apl_options_t *options)
{
    if (memcmp(&group->options, options, sizeof *options) == 0)
        return 0;
    apl_hung_configure(token->pool, group, options);
    group->retired = 0;
    reorder(token->pool, group);
    return 1;
}

apl_process_t *apl_group_pick(apl_lock_token_t *token, apl_group_t *group)
{
    apl_pool_t *pool = token->pool;
    uint32_t at = apl_list_first(pool, &group->idle);
    apl_process_t *p;

    if (at != 0)
        p = APL_PROCESS_OF(pool, at, idle);
    else if (group->order != 0)
        p = apl_process_at(pool, group->order);
    else
        return NULL;
    if (!p)
        pool->damaged = 1;
    return p;
}

/* Requests that one more process will take at a time. With `auto` that is what
 * the oldest one takes. */
static uint32_t next_concurrency(apl_pool_t *pool, const apl_group_t *group)
{
    uint32_t at = apl_list_first(pool, &group->processes);
    const apl_process_t *p = at ? APL_PROCESS_OF(pool, at, member) : NULL;
    apl_wire_t unknown = {.concurrency = 1};

    return apl_concurrency(&group->options, p ? &p->wire : &unknown);
}

/* A template of the present code is ready, and the starts that are under way
 * are too few for the requests that wait. */
static int may_start_more(apl_pool_t *pool, const apl_group_t *group)
{
    uint64_t each;

    if (group->template.state != APL_TEMPLATE_READY ||
        group->template.code != group->n_restarts || apl_group_fails(group) ||
        group->spawning >= APL_GROUP_FORKS)
        return 0;
    each = next_concurrency(pool, group);
    return each != 0 && group->waiting > each * group->spawning;
}

/* After early ends, one process has to show that it does better before another
 * one is started. */
static int is_probing(const apl_lock_token_t *token, const apl_group_t *group)
{
    apl_pool_t *pool = token->pool;
    uint32_t at = group->young > 1 ? apl_list_last(pool, &group->processes) : 0;
    const apl_process_t *newest = at ? APL_PROCESS_OF(pool, at, member) : NULL;

    return newest && apl_young_is(newest, token->now);
}

int apl_group_may_start(const apl_lock_token_t *token, const apl_group_t *group)
{
    return (group->spawning == 0 || may_start_more(token->pool, group)) &&
           !apl_group_closed(group) && !apl_group_too_many_unkillable(group) &&
           (group->failures == 0 || token->now >= group->retry_at) &&
           !is_probing(token, group);
}

int apl_group_at_limit(const apl_group_t *group)
{
    uint32_t max = group->options.max_instances;

    if (max != 0 && apl_hung_may_use_credit(group))
        max += apl_hung_credit(group);
    return max != 0 && (uint64_t)group->size + group->spawning >= max;
}

int apl_group_may_grow(const apl_lock_token_t *token, const apl_group_t *group)
{
    return apl_group_may_start(token, group) && !apl_group_at_limit(group);
}

int apl_group_exceeds_limit(const apl_lock_token_t *token,
                            const apl_group_t *group)
{
    uint32_t max = group->options.max_instances;

    return (max != 0 && group->size > max + apl_hung_credit(group)) ||
           (apl_hung_exceeded(token->pool) &&
            group->size > group->options.min_instances);
}

int apl_group_outdated(const apl_group_t *group, const apl_process_t *process)
{
    return process->revision != group->revision;
}
