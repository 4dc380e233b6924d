/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "store/memory/sweeper.h"

#include <stdlib.h>

#include "store/clock.h"
#include "store/memory/chunk.h"
#include "store/memory/evict.h"
#include "store/memory/region.h"

#define TURN 64 /* chunks under the lock */

struct store_sweep {
    uint32_t page, chunk; /* the next one */
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

static void look(store_space_t *space, store_ref_t ref, uint32_t now)
{
    store_item_t *item = store_at(space, ref);

    if (store_state(item) == STORE_LIVE && store_dead(space, item, now))
        store_evict_item(space, item, now, STORE_EVICT_SWEPT);
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
        look(space, store_page_chunk(sweep->page, (unsigned)class_, i), now);
    store_chunk_unlock(space);
    sweep->chunk = i;
    return i - first;
}

/* @return 1: it goes on. 0: that was the last page */
static int walk(store_space_t *space, unsigned chunks)
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
        return 1;
    sweep->page = sweep->chunk = 0;
    return 0;
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
        emptied = store_evict_page_for(space, STORE_CLASSES);
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

int store_sweeper_run(store_space_t *space, unsigned chunks)
{
    return shrink(space) || walk(space, chunks);
}
