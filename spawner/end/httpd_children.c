/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "spawner/end/end.h"

#include <stdlib.h>
#include <string.h>

#include "shm/verbs/child.h"
#include "system/procfs.h"

/* The child of one slot. There is one for each slot that was ever used. */
typedef struct {
    apl_child_watch_t watch;
    loop_source_t pidfd;
    int dead; /* to be reported as soon as the lock can be taken */
} child_t;

static child_t **children;
static uint32_t n_children;

static void died(void *owner, uint32_t events)
{
    child_t *c = owner;

    (void)events;
    loop_drop(&c->pidfd);
    c->dead = 1;
    state_spawner()->rung = 1;
}

static child_t *slot(spawner_t *s, uint32_t index)
{
    if (!children) {
        n_children = s->shm.n.children;
        children = calloc(n_children, sizeof *children);
    }
    if (!children || index >= n_children)
        return NULL;
    if (!children[index]) {
        children[index] = calloc(1, sizeof **children);
        if (children[index])
            children[index]->pidfd.fd = -1;
    }
    return children[index];
}

static int is_same(const apl_child_watch_t *a, const apl_child_watch_t *b)
{
    return a->generation == b->generation &&
           a->identity.pid == b->identity.pid &&
           a->identity.start == b->identity.start;
}

static void begin(child_t *c, const apl_child_watch_t *watch)
{
    int fd = procfs_pidfd(watch->identity.pid, watch->identity.start);

    loop_drop(&c->pidfd);
    c->watch = *watch;
    c->dead = 0;
    if (fd >= 0 && loop_add(&c->pidfd, fd, EPOLLIN, died, c) == 0)
        return;
    /* Without descriptors a child cannot be watched. That does not mean that it
     * is dead: a living child must not lose its sessions. */
    if (procfs_dead(watch->identity.pid, watch->identity.start))
        c->dead = 1;
    else
        memset(&c->watch, 0, sizeof c->watch); /* try again in a second */
}

void httpd_children_check(spawner_t *s)
{
    uint32_t i, top = s->shm.header->top_child;
    apl_child_watch_t watch;
    child_t *c;

    for (i = 1; i <= top && (c = slot(s, i)) != NULL; i++) {
        if (apl_child_watch_at(&s->shm, i, &watch) != APR_SUCCESS) {
            loop_drop(&c->pidfd);
            memset(&c->watch, 0, sizeof c->watch);
            c->dead = 0;
            continue;
        }
        if (!is_same(&watch, &c->watch))
            begin(c, &watch);
        if (c->dead &&
            apl_child_watch_gone(&s->shm, &watch, s->now) != APL_ELOCK)
            c->dead = 0;
    }
}
