/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/* Steps by which an httpd child dies, outside the lock and inside. */

#include "tests/unit/support/steps.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "shm/verbs/enter.h"

#define ALL (-1)

/* In the order of the pool's slots, as it goes through them. */
static void reclaim(walk_t *w, int owner)
{
    uint32_t slot;
    int i;

    for (slot = 1; slot <= w->s->pool.header->top_session; slot++)
        for (i = 0; i < HOLDS; i++)
            if (w->holds[i].used && w->holds[i].hold.session == slot &&
                (owner == ALL ? w->holds[i].owner >= 0
                              : w->holds[i].owner == owner)) {
                if (model_orphan(w->m, i))
                    w->holds[i].owner = -1;
                else
                    steps_drop(w, i);
            }
    model_unlock(w->m);
}

static int step_owner_dies(walk_t *w, unsigned n)
{
    unsigned owner = n % OWNERS;
    apl_child_watch_t watch;

    reclaim(w, (int)owner);
    if (apl_child_watch_at(&w->s->pool, w->owners[owner], &watch) !=
            APR_SUCCESS ||
        apl_child_watch_gone(&w->s->pool, &watch, w->s->now) != APR_SUCCESS)
        return steps_differ(w, "an owner's death", 0, 1);
    w->owners[owner] = scene_child(w->s);
    return 1;
}

static int step_roll(walk_t *w)
{
    int rolled = apl_child_watch_roll_call(&w->s->pool, w->s->now),
        expected = w->roll;
    int i;

    w->roll = 0;
    if (rolled != expected)
        return steps_differ(w, "the roll is called", rolled, expected);
    if (rolled)
        reclaim(w, ALL);
    for (i = 0; rolled && i < OWNERS; i++)
        w->owners[i] = scene_child(w->s);
    return 1;
}

/* Damage some derived data, as a process that dies inside may leave it. */
static void tear(apl_pool_t *pool, unsigned n)
{
    apl_header_t *h = pool->header;
    apl_group_t *g = &pool->groups[n % (h->top_group + 1)];
    apl_process_t *p = &pool->processes[n % (h->top_process + 1)];
    apl_session_t *s = &pool->sessions[n % (h->top_session + 1)];
    apl_link_t *const links[] = {
        &h->inactive,       &h->unserved,      &h->growing,
        &h->above,          &g->above,         &h->wanted,
        &h->leavers,        &h->sessions_free, &h->groups_free,
        &h->processes_free, &h->children_free, &g->processes,
        &g->idle,           &g->queue,         &g->turn,
        &g->bucket,         &p->member,        &p->idle,
        &p->pool,           &s->link,
    };
    uint32_t *const counts[] = {
        &h->count,       &h->active,
        &h->spawning,    &h->waiting,
        &h->leaving,     &h->replacing,
        &h->hung,        &h->credit,
        &g->hung,        &g->unkillable,
        &g->order,       &g->size,
        &g->spawning,    &g->waiting,
        &g->outdated,    &p->sessions,
        &p->node.left,   &p->node.right,
        &p->node.parent, &pool->children[1].sessions,
        &p->abandoned,
    };
    unsigned i;

    for (i = 0; i < 4; i++, n = n * 1103515245 + 12345) {
        apl_link_t *link = links[n / 64 % (sizeof links / sizeof *links)];

        *(n % 2 ? &link->next : &link->prev) = n / 8 % 4096;
        *counts[n / 64 % (sizeof counts / sizeof *counts)] = n / 4 % 8;
    }
}

static void die_inside(apl_pool_t *pool, int64_t now, unsigned n)
{
    apl_lock_token_t token;
    pid_t pid = fork();

    assert_true(pid >= 0);
    if (pid == 0) {
        apl_enter(&token, pool, now, APL_FOREVER);
        tear(pool, n);
        kill(getpid(), SIGKILL);
    }
    assert_int_equal(waitpid(pid, NULL, 0), pid);
}

/* It died after it had closed this session, before it served a waiter. */
static void close_by_half(walk_t *w, int i)
{
    const apl_session_ref_t *h = &w->holds[i].hold;
    apl_process_t *p;

    if (!steps_served(w, (unsigned)i))
        return;
    p = &w->s->pool.processes[w->m->sessions[i].id & 0xffff];
    p->processed += p->id == w->m->sessions[i].id;
    w->s->pool.sessions[h->session].state = APL_SESSION_FREE;
    model_lose(w->m, i);
    steps_drop(w, i);
}

static int step_tear(walk_t *w, unsigned n)
{
    apl_pool_t *pool = &w->s->pool;
    apl_lock_token_t token;

    close_by_half(w, (int)(n / 4 % HOLDS));
    if (n % 4 == 0)
        die_inside(pool, w->s->now, n / 4);
    else {
        tear(pool, n / 4);
        pool->damaged = 1;
        w->roll = 1;
    }
    if (apl_enter(&token, pool, w->s->now, 1000000) != APR_SUCCESS)
        return steps_differ(w, "entered", 0, 1);
    apl_leave(&token);
    w->repairs++;
    model_repair(w->m);
    return 1;
}

int steps_death(walk_t *w, kind_t kind, unsigned n)
{
    if (kind == OWNER_DIES)
        return step_owner_dies(w, n);
    return kind == ROLL ? step_roll(w) : step_tear(w, n);
}
