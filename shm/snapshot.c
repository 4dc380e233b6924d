/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "shm/snapshot.h"

#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include "shm/enter.h"
#include "shm/wake.h"

#define TRIES 200
#define HASTE 3     /* of them without a pause */
#define PAUSE 50000 /* ns: longer than anybody is inside */

/* Slots in use, as the marks say; never more than there are. */
static apl_capacity_t in_use(const apl_pool_t *pool)
{
    const apl_header_t *h = pool->header;
    apl_capacity_t n = {h->top_group, h->top_process, h->top_session,
                        h->top_child};

    if (n.groups > pool->n.groups - 1)
        n.groups = pool->n.groups - 1;
    if (n.processes > pool->n.processes - 1)
        n.processes = pool->n.processes - 1;
    if (n.sessions > pool->n.sessions - 1)
        n.sessions = pool->n.sessions - 1;
    if (n.children > pool->n.children - 1)
        n.children = pool->n.children - 1;
    return n;
}

/* Tables keep their offsets, so that links lead where they led; what was
 * never used is left zero, which the system does not store. */
static void copy_slots(apl_pool_t *to, const apl_pool_t *from)
{
    apl_capacity_t n = in_use(from);

    memcpy(to->header, from->header, sizeof *to->header);
    memcpy(to->groups, from->groups, (n.groups + 1) * sizeof *to->groups);
    memcpy(to->processes, from->processes,
           (n.processes + 1) * sizeof *to->processes);
    memcpy(to->sessions, from->sessions,
           (n.sessions + 1) * sizeof *to->sessions);
    memcpy(to->children, from->children,
           (n.children + 1) * sizeof *to->children);
}

static int copy_quietly(apl_pool_t *to, const apl_pool_t *from)
{
    const uint32_t *sequence = &from->header->sequence;
    uint32_t before = __atomic_load_n(sequence, __ATOMIC_ACQUIRE);

    if (before & 1)
        return 0;
    copy_slots(to, from);
    __atomic_thread_fence(__ATOMIC_ACQUIRE);
    return __atomic_load_n(sequence, __ATOMIC_RELAXED) == before;
}

static void terminate(apl_pool_t *copy)
{
    apl_capacity_t n = in_use(copy);
    uint32_t i;

    for (i = 1; i <= n.groups; i++) {
        apl_group_t *g = &copy->groups[i];

        g->name[sizeof g->name - 1] = 0;
        g->root[sizeof g->root - 1] = 0;
        g->error[sizeof g->error - 1] = 0;
    }
    for (i = 1; i <= n.sessions; i++) {
        apl_session_t *s = &copy->sessions[i];

        s->method[sizeof s->method - 1] = 0;
        s->client[sizeof s->client - 1] = 0;
        s->uri[sizeof s->uri - 1] = 0;
    }
    for (i = 0; i < APL_EVENT_MAX; i++) {
        apl_event_t *e = &copy->header->events[i];

        e->app[sizeof e->app - 1] = 0;
    }
}

static apr_status_t unmap(void *copy)
{
    apl_pool_t *c = copy;

    munmap(c->base, c->size);
    return APR_SUCCESS;
}

/* Memory of its own, all zero and not there until it is written, instead of
 * megabytes of a request's pool. */
static apl_pool_t *empty_copy(const apl_pool_t *pool, apr_pool_t *p)
{
    apl_capacity_t n = {pool->n.groups - 1, pool->n.processes - 1,
                        pool->n.sessions - 1, pool->n.children - 1};
    apl_pool_t *c = apr_palloc(p, sizeof *c);
    void *memory = mmap(NULL, pool->size, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    if (memory == MAP_FAILED)
        return NULL;
    apl_segment_format(c, memory, &n);
    apr_pool_cleanup_register(p, c, unmap, apr_pool_cleanup_null);
    return c;
}

apr_status_t apl_snapshot_take(apl_pool_t **copy, apl_pool_t *pool,
                               apr_pool_t *p)
{
    static const struct timespec pause = {0, PAUSE};
    apl_pool_t *c = empty_copy(pool, p);
    apl_held_t held;
    apr_status_t rv;
    int i;

    if (!c)
        return APR_ENOMEM;
    for (i = 0; i < TRIES; i++) {
        if (i > HASTE)
            nanosleep(&pause, NULL);
        if (copy_quietly(c, pool))
            break;
    }
    if (i == TRIES) {
        rv = apl_enter(&held, pool, apl_now(), APL_WAKE_SLICE);
        if (rv != APR_SUCCESS)
            return rv;
        copy_slots(c, pool);
        apl_leave(&held);
    }
    terminate(c);
    *copy = c;
    return APR_SUCCESS;
}
