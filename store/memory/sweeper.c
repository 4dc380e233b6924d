/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "store/memory/sweeper.h"

#include <stdlib.h>
#include <string.h>

#include "store/clock.h"
#include "store/memory/chunk.h"
#include "store/memory/evict.h"
#include "store/memory/move.h"
#include "store/memory/region.h"

#define TURN      64 /* chunks under the lock */
#define MOVE_PART 50 /* of so many pages one may be moved in a pass */

/* What is known after the walk over all pages. */
typedef struct {
    uint32_t oldest;    /* s since the last access of the oldest item */
    uint64_t evictions; /* of the class, at the end of the last pass */
} class_age_t;

struct store_sweep {
    uint32_t page, chunk; /* the next one */
    uint32_t moves;       /* that this pass may still make */
    int walked;           /* it is over, and pages may be moved */
    class_age_t class_[STORE_CLASSES];
};

struct store_sweep *store_sweeper_make(void)
{
    return calloc(1, sizeof(struct store_sweep));
}

void store_sweeper_free(struct store_sweep *sweep)
{
    free(sweep);
}

/* ---- the walk ---- */

static void look(store_space_t *space, store_ref_t ref, unsigned class_,
                 uint32_t now)
{
    uint32_t *oldest = &space->sweep->class_[class_].oldest;
    store_item_t *item = store_at(space, ref);
    uint32_t used;

    if (store_state(item) != STORE_LIVE)
        return;
    if ((store_expired(item, now) || store_flushed(space, item)) &&
        store_evict_item(space, item, now, STORE_EVICT_SWEPT))
        return;
    used = STORE_GET(item->used);
    if (used < now && now - used > *oldest)
        *oldest = now - used;
}

/* @return how many chunks were looked at; 0: the page is over */
static unsigned look_at_some(store_space_t *space, uint32_t now)
{
    struct store_sweep *sweep = space->sweep;
    uint32_t end, first = sweep->chunk, i;
    int class_;

    store_chunk_lock(space);
    class_ = store_chunk_class(space, sweep->page);
    end = class_ < 0 ? 0 : store_class_chunks((unsigned)class_);
    if (end > first + TURN)
        end = first + TURN;
    for (i = first; i < end; i++)
        look(space,
             store_page_ref(sweep->page,
                            (uint16_t)(STORE_PAGE_FIRST +
                                       i * store_page_step((unsigned)class_))),
             (unsigned)class_, now);
    store_chunk_unlock(space);
    sweep->chunk = i;
    return i - first;
}

static void walk(store_space_t *space, unsigned chunks)
{
    struct store_sweep *sweep = space->sweep;
    uint32_t pages = STORE_GET(space->entry->pages), now = store_clock();
    unsigned seen = 0;

    while (seen < chunks && sweep->page < pages) {
        unsigned n = look_at_some(space, now);

        seen += n + 1;
        if (n < TURN) {
            sweep->page++;
            sweep->chunk = 0;
        }
    }
    if (sweep->page < pages)
        return;
    sweep->walked = 1;
    sweep->moves = 1 + STORE_GET(space->pages_max) / MOVE_PART;
}

/* ---- pages from classes with old items to those that evict young ones ---- */

/* The class that evicts the youngest items; STORE_CLASSES: none evicts. */
static unsigned needy_class(store_space_t *space, uint32_t *age)
{
    unsigned i, needy = STORE_CLASSES;

    for (i = 0; i < STORE_CLASSES; i++) {
        const store_class_stat_t *stat = store_chunk_stat(space, i);

        if (stat->evictions > space->sweep->class_[i].evictions &&
            (needy == STORE_CLASSES || stat->evicted_age < *age)) {
            needy = i;
            *age = stat->evicted_age;
        }
    }
    return needy;
}

/* One that keeps a page. */
static unsigned oldest_class(store_space_t *space, unsigned but)
{
    const class_age_t *ages = space->sweep->class_;
    unsigned i, oldest = STORE_CLASSES;

    for (i = 0; i < STORE_CLASSES; i++)
        if (i != but && store_chunk_stat(space, i)->pages > 1 &&
            (oldest == STORE_CLASSES || ages[i].oldest > ages[oldest].oldest))
            oldest = i;
    return oldest;
}

/* @return 1: a page was moved */
static int balance(store_space_t *space)
{
    uint32_t age = 0;
    unsigned from, to;
    int moved = 0;

    if (space->sweep->moves == 0)
        return 0;
    space->sweep->moves--;
    store_chunk_lock(space);
    to = needy_class(space, &age);
    from = to == STORE_CLASSES ? to : oldest_class(space, to);
    if (from != STORE_CLASSES &&
        space->chunks->n_free <= STORE_GET(space->pages_max) / MOVE_PART &&
        space->sweep->class_[from].oldest / 2 > age)
        moved = store_move_from(space, from, 0);
    store_chunk_unlock(space);
    return moved;
}

/* ---- a space that has become smaller ---- */

static uint32_t pages_with_memory(const store_space_t *space)
{
    return space->chunks->n_classed + space->chunks->n_free;
}

/* @return 1: there is more to do */
static int shrink(store_space_t *space)
{
    uint32_t most = STORE_GET(space->pages_max), page = STORE_NO_PAGE;
    int emptied = 0;

    store_chunk_lock(space);
    if (space->chunks->n_classed > most)
        emptied = store_move_for(space, STORE_CLASSES);
    if (pages_with_memory(space) > most)
        page = store_page_take_free(space);
    store_chunk_unlock(space);
    if (page == STORE_NO_PAGE)
        return emptied;
    store_region_punch(space->slot, page, 1);
    store_chunk_lock(space);
    store_page_add_hole(space, page);
    store_chunk_unlock(space);
    return 1;
}

/* ---- a pass ---- */

static void end_pass(store_space_t *space)
{
    struct store_sweep *sweep = space->sweep;
    unsigned i;

    store_chunk_lock(space);
    for (i = 0; i < STORE_CLASSES; i++) {
        sweep->class_[i].evictions = store_chunk_stat(space, i)->evictions;
        sweep->class_[i].oldest = 0;
    }
    store_chunk_unlock(space);
    sweep->page = sweep->chunk = 0;
    sweep->walked = 0;
}

int store_sweeper_run(store_space_t *space, unsigned chunks)
{
    if (shrink(space))
        return 1;
    if (!space->sweep->walked)
        walk(space, chunks);
    else if (!balance(space)) {
        end_pass(space);
        return 0;
    }
    return 1;
}
