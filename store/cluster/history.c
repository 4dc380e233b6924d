/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "store/cluster/history.h"

#include <pthread.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>

#include "store/atomic.h"
#include "store/cluster/epoch.h"
#include "store/memory/changes.h"
#include "store/memory/region.h"
#include "store/memory/space.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* The master's. The follower's thread. */
static struct {
    store_history_t history;
    int is_taken; /* the directory has it */
} offer;

static store_history_t *mine(void)
{
    return &store_region_directory()->history;
}

void store_history_own(store_history_t *to)
{
    pthread_mutex_lock(&lock);
    memcpy(to, mine(), sizeof *to);
    to->flags = STORE_GET(mine()->flags);
    to->epoch[0].position = STORE_GET(mine()->epoch[0].position);
    pthread_mutex_unlock(&lock);
    if (to->n > STORE_EPOCHS ||
        STORE_GET(store_region_directory()->lacks) == STORE_LACKS_ITEMS)
        to->n = 0;
}

/* ---- a master ---- */

static int is_empty(const store_cluster_hooks_t *hooks)
{
    const store_space_t *space;
    unsigned i;

    for (i = 0; (space = hooks->nth(i)); i++)
        if (STORE_GET(space->figures->items) > 0)
            return 0;
    return 1;
}

/* The kernel always has random bytes when a store runs. */
static uint64_t new_id(void)
{
    uint64_t id = 0;

    if (getrandom(&id, sizeof id, 0) != sizeof id || id == 0)
        id = (uint64_t)time(NULL);
    return id;
}

void store_history_begin(const store_cluster_hooks_t *hooks)
{
    store_directory_t *d = store_region_directory();
    uint32_t flags = 0;

    if (STORE_GET(d->lacks) == STORE_LACKS_ITEMS)
        flags |= STORE_HISTORY_INCOMPLETE;
    else if (d->history.n == 0 && is_empty(hooks))
        flags |= STORE_HISTORY_EMPTY;
    pthread_mutex_lock(&lock);
    if (d->history.n > STORE_EPOCHS)
        store_epoch_clear(&d->history);
    store_epoch_begin(&d->history, new_id(), flags);
    pthread_mutex_unlock(&lock);
    store_changes_count_in(&d->history.epoch[0].position);
    STORE_SET(d->was_master, 1);
}

void store_history_contest(void)
{
    __atomic_or_fetch(&mine()->flags, STORE_HISTORY_CONTESTED,
                      __ATOMIC_ACQ_REL);
}

void store_history_end(void)
{
    store_epoch_clear(mine());
    STORE_SET(store_region_directory()->lacks, 0);
    store_changes_count_in(NULL);
}

/* ---- a slave ---- */

void store_history_offer(const store_history_t *theirs)
{
    offer.history = *theirs;
    offer.is_taken = 0;
}

void store_history_mark(uint64_t position)
{
    store_history_t *h = offer.is_taken ? mine() : &offer.history;

    if (h->n > 0 && h->epoch[0].position < position)
        STORE_SET_RELEASE(h->epoch[0].position, position);
}

/* A space that comes later is copied for itself. The history is the same. */
void store_history_complete(void)
{
    pthread_mutex_lock(&lock);
    if (!offer.is_taken)
        store_epoch_adopt(mine(), &offer.history);
    offer.is_taken = 1;
    pthread_mutex_unlock(&lock);
}

void store_history_show(void)
{
    store_cluster_figures_t *f = &store_region_figures()->cluster;
    store_history_t h;

    store_history_own(&h);
    STORE_SET(f->epoch, h.n > 0 ? h.epoch[0].id : 0);
    STORE_SET(f->epoch_number, h.n > 0 ? h.number : 0);
    STORE_SET(f->position, h.n > 0 ? h.epoch[0].position : 0);
}
