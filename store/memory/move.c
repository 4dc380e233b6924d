/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "store/memory/move.h"

#include "store/clock.h"
#include "store/memory/chunk.h"
#include "store/memory/evict.h"

#define SAMPLES 8 /* chunks of a class that show its age */
#define TRIES   4 /* pages of a class */
/* Pages that are looked at. Those of one value are beside each other, so the
 * hand may meet some dozens that are written to now. */
#define LOOKS   256
#define TURN    32 /* chunks of a page before others get the lock */

/* ---- which class ---- */

/* s since the last access of the oldest of some items of the page, and 1 more.
 * 0: none of the items can be removed */
static uint32_t age_of_page(const store_space_t *space, uint32_t page,
                            unsigned class_, uint32_t now)
{
    uint32_t n = store_class_chunks(class_), age = 0, i;

    for (i = 0; i < SAMPLES && i < n; i++) {
        store_item_t *item = store_evict_owner(
            space, store_page_chunk(page, class_, i * n / SAMPLES));
        uint32_t used;

        if (!store_evict_is_unused(item))
            continue;
        used = STORE_GET(item->used);
        if (used < now && now - used >= age)
            age = now - used;
        age += age == 0;
    }
    return age;
}

/* The same for the next page, from the hand on, with an item that can be
 * removed. */
static uint32_t age_of(const store_space_t *space, unsigned class_,
                       uint32_t now)
{
    uint32_t first = space->chunks->class_[class_].hand, page = first, age = 0;
    int i;

    if (first == STORE_NO_PAGE)
        return 0;
    for (i = 0; i < LOOKS && !age; i++) {
        age = age_of_page(space, page, class_, now);
        page = space->chunks->page[page].next;
        if (page == first)
            break;
    }
    return age;
}

/* ---- one page ---- */

static int empty(store_space_t *space, uint32_t page, unsigned class_)
{
    uint32_t now = store_clock(), n = store_class_chunks(class_), i;
    store_evict_why_t why =
        STORE_GET(space->evict) ? STORE_EVICT_LIVING : STORE_EVICT_DEAD;
    int missed = 0;

    store_page_close(space, page);
    for (i = 0; i < n && !missed; i++) {
        store_ref_t ref = store_page_chunk(page, class_, i);

        if (store_state(store_at(space, ref)) != STORE_FREE)
            missed = !store_evict_item(space, store_evict_owner(space, ref),
                                       now, why);
        if (i % TURN == TURN - 1) {
            store_chunk_unlock(space);
            store_chunk_lock(space);
        }
    }
    return store_page_open(space, page);
}

/* Is no chunk of the page used, and does no other thread empty it? */
static int can_go(const store_space_t *space, uint32_t page, unsigned class_)
{
    uint32_t n = store_class_chunks(class_), i;

    if (space->chunks->page[page].closed)
        return 0;
    for (i = 0; i < n; i++) {
        store_ref_t ref = store_page_chunk(page, class_, i);

        if (store_state(store_at(space, ref)) != STORE_FREE &&
            !store_evict_is_unused(store_evict_owner(space, ref)))
            return 0;
    }
    return 1;
}

int store_move_from(store_space_t *space, unsigned class_)
{
    store_class_info_t *c = &space->chunks->class_[class_];
    int tries = 0, looks;

    for (looks = 0; looks < LOOKS && tries < TRIES && c->hand != STORE_NO_PAGE;
         looks++) {
        uint32_t page = c->hand;

        c->hand = space->chunks->page[page].next;
        if (!can_go(space, page, class_))
            continue;
        tries++;
        if (empty(space, page, class_)) {
            STORE_ADD(space->figures->page_moves, 1);
            return 1;
        }
    }
    return 0;
}

/* The class with the oldest items of those that are left. STORE_CLASSES: none
 * has an item that can be removed. */
static unsigned oldest_class(const store_space_t *space, const char *tried)
{
    uint32_t now = store_clock(), oldest = 0;
    unsigned i, found = STORE_CLASSES;

    for (i = 0; i < STORE_CLASSES; i++) {
        uint32_t age = tried[i] ? 0 : age_of(space, i, now);

        if (age > oldest) {
            oldest = age;
            found = i;
        }
    }
    return found;
}

/* The class may have few items, and one that is in use in each page. */
int store_move_for(store_space_t *space, unsigned class_)
{
    char tried[STORE_CLASSES] = {0};
    unsigned from;

    if (class_ < STORE_CLASSES)
        tried[class_] = 1;
    while ((from = oldest_class(space, tried)) != STORE_CLASSES) {
        if (store_move_from(space, from))
            return 1;
        tried[from] = 1;
    }
    return 0;
}
