/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "shm/segment.h"

#include <string.h>
#include <sys/stat.h>

#include "shm/list.h"

/* Offsets of the tables; the last is the size. */
typedef struct {
    apr_size_t groups, processes, sessions, children, size;
} plan_t;

static apr_size_t lines(apr_size_t bytes)
{
    return (bytes + APL_LINES - 1) / APL_LINES * APL_LINES;
}

/* Each table has its slots and slot 0, which is nobody's. */
static plan_t plan(const apl_capacity_t *n)
{
    plan_t at;

    at.groups = lines(sizeof(apl_header_t));
    at.processes = at.groups + (n->groups + 1) * sizeof(apl_group_t);
    at.sessions = at.processes + (n->processes + 1) * sizeof(apl_process_t);
    at.children = at.sessions + (n->sessions + 1) * sizeof(apl_session_t);
    at.size = at.children + (n->children + 1) * sizeof(apl_child_t);
    return at;
}

apr_size_t apl_segment_size(const apl_capacity_t *capacity)
{
    return plan(capacity).size;
}

static void point(apl_pool_t *pool, void *memory, const apl_capacity_t *n)
{
    plan_t at = plan(n);

    memset(pool, 0, sizeof *pool);
    pool->base = memory;
    pool->header = memory;
    pool->groups = (void *)(pool->base + at.groups);
    pool->processes = (void *)(pool->base + at.processes);
    pool->sessions = (void *)(pool->base + at.sessions);
    pool->children = (void *)(pool->base + at.children);
    pool->size = (uint32_t)at.size;
    pool->n.groups = n->groups + 1;
    pool->n.processes = n->processes + 1;
    pool->n.sessions = n->sessions + 1;
    pool->n.children = n->children + 1;
    pool->bell = -1;
    pool->patience = APL_PATIENCE;
}

void apl_segment_empty(apl_pool_t *pool)
{
    apl_header_t *h = pool->header;
    uint32_t i;

    h->count = h->active = h->spawning = h->waiting = h->leaving = 0;
    h->replacing = 0;
    apl_list_init(pool, &h->inactive);
    apl_list_init(pool, &h->starved);
    apl_list_init(pool, &h->hungry);
    apl_list_init(pool, &h->sessions_free);
    apl_list_init(pool, &h->groups_free);
    apl_list_init(pool, &h->processes_free);
    apl_list_init(pool, &h->children_free);
    apl_list_init(pool, &h->wanted);
    apl_list_init(pool, &h->leavers);
    for (i = 0; i < APL_BUCKETS; i++)
        apl_list_init(pool, &h->buckets[i]);
}

void apl_segment_format(apl_pool_t *pool, void *memory,
                        const apl_capacity_t *capacity)
{
    apl_header_t *h = memory;

    point(pool, memory, capacity);
    h->layout = APL_LAYOUT;
    h->size = pool->size;
    h->n_groups = capacity->groups;
    h->n_processes = capacity->processes;
    h->n_sessions = capacity->sessions;
    h->n_children = capacity->children;
    apl_segment_empty(pool);
    __atomic_store_n(&h->magic, APL_MAGIC, __ATOMIC_RELEASE);
}

static void *aligned(apr_shm_t *shm)
{
    /* APR keeps its own 8 bytes before what it hands out. */
    return (void *)lines((apr_size_t)apr_shm_baseaddr_get(shm));
}

apr_status_t apl_segment_create(apl_pool_t *pool, const char *path,
                                const apl_capacity_t *capacity, apr_pool_t *p)
{
    apr_size_t size = apl_segment_size(capacity);
    apr_shm_t *shm;
    apr_status_t rv;
    mode_t mask;

    if (size > UINT32_MAX || capacity->processes > APL_PROCESSES_MAX)
        return APR_EINVAL;
    apr_shm_remove(path, p);
    mask = umask(077);
    rv = apr_shm_create(&shm, size + APL_LINES, path, p);
    umask(mask);
    if (rv != APR_SUCCESS)
        return rv;
    apl_segment_format(pool, aligned(shm), capacity);
    pool->shm = shm;
    return APR_SUCCESS;
}

apr_status_t apl_segment_attach(apl_pool_t *pool, const char *path,
                                apr_pool_t *p)
{
    apr_shm_t *shm;
    const apl_header_t *h;
    apl_capacity_t n;
    apr_size_t size;
    apr_status_t rv = apr_shm_attach(&shm, path, p);

    if (rv != APR_SUCCESS)
        return rv;
    h = aligned(shm);
    size = apr_shm_size_get(shm);
    if (size < sizeof *h + APL_LINES ||
        __atomic_load_n(&h->magic, __ATOMIC_ACQUIRE) != APL_MAGIC ||
        h->layout != APL_LAYOUT)
        goto foreign;
    n.groups = h->n_groups;
    n.processes = h->n_processes;
    n.sessions = h->n_sessions;
    n.children = h->n_children;
    if (n.processes > APL_PROCESSES_MAX || n.groups > APL_PROCESSES_MAX ||
        n.sessions > APL_SESSIONS_MAX || n.children > APL_SESSIONS_MAX ||
        apl_segment_size(&n) + APL_LINES > size)
        goto foreign;
    point(pool, aligned(shm), &n);
    pool->shm = shm;
    return APR_SUCCESS;

foreign:
    apr_shm_detach(shm);
    return APL_EFOREIGN;
}

void apl_segment_remove(const char *path, apr_pool_t *p)
{
    apr_shm_remove(path, p);
}

void apl_segment_close(apl_pool_t *pool)
{
    if (pool->shm)
        apr_shm_destroy(pool->shm);
    memset(pool, 0, sizeof *pool);
    pool->bell = -1;
}
