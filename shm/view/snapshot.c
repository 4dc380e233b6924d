/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "shm/view/snapshot.h"

#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include "shm/verbs/enter.h"
#include "shm/format/segment.h"

#define TRIES         200
#define HURRIED_TRIES 3       /* of these tries come without a pause */
#define PAUSE         50000   /* ns: longer than a process has the lock */
#define SLICE         512     /* slots that are copied between two checks */
#define READY_BYTES   0x40000 /* bytes that a call makes ready */
#define PAGE          4096
#define HUGE_MIN      0x400000 /* bytes; a larger slot array gets huge pages */

/* ---- the slot arrays ---- */

enum { GROUPS, PROCESSES, SESSIONS, CHILDREN, ARRAYS };

/* A slot array in the segment. A copy has it at the same offset, so links stay
 * valid. */
typedef struct {
    uint32_t offset, slot; /* bytes */
    uint32_t top;          /* the highest slot in use, as the mark says */
} array_t;

static array_t array_of(const apl_pool_t *pool, int which)
{
    const apl_header_t *h = pool->header;
    const struct {
        const void *at;
        size_t slot;
        const uint32_t *top;
        uint32_t n;
    } t[] = {
        {pool->groups, sizeof *pool->groups, &h->top_group, pool->n.groups},
        {pool->processes, sizeof *pool->processes, &h->top_process,
         pool->n.processes},
        {pool->sessions, sizeof *pool->sessions, &h->top_session,
         pool->n.sessions},
        {pool->children, sizeof *pool->children, &h->top_child,
         pool->n.children},
    };

    return (array_t){(uint32_t)((const char *)t[which].at - pool->base),
                     (uint32_t)t[which].slot,
                     apl_top(t[which].top, t[which].n)};
}

/* Copy the slots from i up to `end`, without it. Of a session it copies only
 * the first cache line, from which lists and counts are made. */
static void copy_slots(apl_pool_t *to, const apl_pool_t *from, int which,
                       uint32_t i, uint32_t end)
{
    array_t t = array_of(to, which);

    if (which == SESSIONS)
        for (; i < end; i++) {
            apl_session_ahead(&from->sessions[i]);
            apl_copy(&to->sessions[i], &from->sessions[i], APL_CACHE_LINE);
        }
    else
        apl_copy(to->base + t.offset + (size_t)i * t.slot,
                 from->base + t.offset + (size_t)i * t.slot,
                 (size_t)(end - i) * t.slot);
}

/* ---- one copy ---- */

APL_UNLOCKED static int is_unchanged(const apl_pool_t *pool, uint32_t before)
{
    __atomic_thread_fence(__ATOMIC_ACQUIRE);
    return __atomic_load_n(&pool->header->sequence, __ATOMIC_RELAXED) == before;
}

/* Slots that were never used stay zero, and the kernel stores no page for them.
 * The copy is given up as soon as a process enters.
 * @param locked 1: no process can enter. @return 0: a process has entered */
static int copy_all(apl_pool_t *to, const apl_pool_t *from, uint32_t before,
                    int locked)
{
    int which;

    apl_copy(to->header, from->header, sizeof *to->header);
    for (which = 0; which < ARRAYS; which++) {
        uint32_t i, end, top = array_of(to, which).top;

        for (i = 0; i <= top; i = end) {
            end = top - i < SLICE ? top + 1 : i + SLICE;
            copy_slots(to, from, which, i, end);
            if (!locked && !is_unchanged(from, before))
                return 0;
        }
    }
    return 1;
}

static int copy_without_lock(apl_pool_t *to, const apl_pool_t *from)
{
    uint32_t before =
        __atomic_load_n(&from->header->sequence, __ATOMIC_ACQUIRE);

    return !(before & 1) && copy_all(to, from, before, 0);
}

/* Ask for huge pages. The first use of a page takes microseconds, and a huge
 * page replaces 512 pages. */
static void want_huge(const apl_pool_t *copy, const array_t *t)
{
    size_t from = (t->offset + PAGE - 1) / PAGE * PAGE;
    size_t to = t->offset + (size_t)t->top * t->slot;

    if (to > from + HUGE_MIN)
        madvise(copy->base + from, to - from, MADV_HUGEPAGE);
}

/* Touch the memory for the slots in use before the copy begins: the first use
 * of a page takes longer than to copy its content. @return 0: not done yet, or
 * some memory was touched now */
static int make_ready(apl_snapshot_t *s)
{
    uint32_t *ready[] = {&s->ready.groups, &s->ready.processes,
                         &s->ready.sessions, &s->ready.children};
    uint32_t left = READY_BYTES;
    int which;

    for (which = 0; which < ARRAYS; which++) {
        array_t t = array_of(s->of, which);

        if (*ready[which] <= t.top)
            want_huge(s->copy, &t);
        for (; *ready[which] <= t.top; ++*ready[which]) {
            size_t at = t.offset + (size_t)*ready[which] * t.slot;

            if (left < t.slot)
                return 0;
            left -= t.slot;
            if (at % PAGE < t.slot)
                *(volatile char *)(s->copy->base + at) = 0;
        }
    }
    return left == READY_BYTES;
}

apr_status_t apl_snapshot_try(apl_snapshot_t *snapshot, int enter)
{
    apl_lock_token_t token;
    apr_status_t rv;

    if (!make_ready(snapshot))
        return APR_INCOMPLETE;
    if (!enter)
        return copy_without_lock(snapshot->copy, snapshot->of) ? APR_SUCCESS
                                                               : APR_EAGAIN;
    rv = apl_enter_patiently(&token, snapshot->of, apl_now());
    if (rv != APR_SUCCESS)
        return rv;
    copy_all(snapshot->copy, snapshot->of, 0, 1);
    apl_leave(&token);
    return APR_SUCCESS;
}

/* ---- memory of a snapshot ---- */

static apr_status_t unmap(void *copy)
{
    apl_pool_t *c = copy;

    munmap(c->base, c->size);
    return APR_SUCCESS;
}

/* The copy has a mapping of its own, instead of megabytes from the pool of a
 * request. The mapping is zero, and a page needs memory when it is written. It
 * ends before the numbers, which are read where they are. */
apr_status_t apl_snapshot_prepare(apl_snapshot_t *snapshot, apl_pool_t *pool,
                                  apr_pool_t *p)
{
    apl_capacity_t n = {pool->n.groups - 1, pool->n.processes - 1,
                        pool->n.sessions - 1, pool->n.children - 1};
    apl_pool_t *c = apr_palloc(p, sizeof *c);
    uint32_t size = (uint32_t)((char *)pool->numbers - pool->base);
    void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    if (memory == MAP_FAILED)
        return APR_ENOMEM;
    apl_segment_format(c, memory, &n);
    c->size = size;
    c->numbers = pool->numbers;
    apr_pool_cleanup_register(p, c, unmap, apr_pool_cleanup_null);
    memset(snapshot, 0, sizeof *snapshot);
    snapshot->copy = c;
    snapshot->of = pool;
    return APR_SUCCESS;
}

/* ---- texts ---- */

/* Copy the texts of a request. If the slot has another request by now, the
 * texts stay empty. */
static void copy_text(apl_session_t *to, const apl_session_t *from)
{
    size_t rest = offsetof(apl_session_t, id);

    apl_copy((char *)to + rest, (const char *)from + rest, sizeof *to - rest);
    __atomic_thread_fence(__ATOMIC_ACQUIRE);
    if (__atomic_load_n(&from->generation, __ATOMIC_RELAXED) != to->generation)
        memset((char *)to + rest, 0, sizeof *to - rest);
    to->method[sizeof to->method - 1] = 0;
    to->client[sizeof to->client - 1] = 0;
    to->uri[sizeof to->uri - 1] = 0;
}

static void add_texts(apl_pool_t *copy, const apl_pool_t *of)
{
    uint32_t i, top = array_of(copy, SESSIONS).top;

    for (i = 1; i <= top; i++)
        if (copy->sessions[i].state != APL_SESSION_FREE)
            copy_text(&copy->sessions[i], &of->sessions[i]);
    for (i = 1; i <= array_of(copy, GROUPS).top; i++) {
        apl_group_t *g = &copy->groups[i];

        g->name[sizeof g->name - 1] = 0;
        g->root[sizeof g->root - 1] = 0;
        g->error[sizeof g->error - 1] = 0;
        g->slow_start.text[sizeof g->slow_start.text - 1] = 0;
    }
    for (i = 0; i < APL_EVENT_MAX; i++) {
        apl_event_t *e = &copy->header->events[i];

        e->app[sizeof e->app - 1] = 0;
        e->reason[sizeof e->reason - 1] = 0;
    }
}

apr_status_t apl_snapshot_take(apl_pool_t **copy, apl_pool_t *pool,
                               apr_pool_t *p)
{
    static const struct timespec pause = {0, PAUSE};
    apl_snapshot_t s;
    apr_status_t rv = apl_snapshot_prepare(&s, pool, p);
    int i = 0;

    if (rv != APR_SUCCESS)
        return rv;
    while ((rv = apl_snapshot_try(&s, i >= TRIES)) != APR_SUCCESS) {
        if (rv != APR_EAGAIN && rv != APR_INCOMPLETE)
            return rv;
        if (rv == APR_EAGAIN && i++ > HURRIED_TRIES)
            nanosleep(&pause, NULL);
    }
    add_texts(s.copy, pool);
    *copy = s.copy;
    return APR_SUCCESS;
}
