/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "store/memory/move.h"

#include "store/clock.h"
#include "store/memory/evict.h"
#include "store/memory/rescue.h"
#include "store/memory/table.h"

#define TRIES 4 /* pages of a class that are emptied; for a chunk of one */
/* Pages that are looked at. Many may have an item that is in use. */
#define LOOKS 256
/* Chunks of those that have more living items than there is room for. */
#define FULL  1024
#define TURN  32 /* chunks of a page before others get the lock */
/* Pages with free chunks, of which the emptiest is taken. */
#define ROOMY 16
/* After a refusal, so many chunks that are given back may be a page. */
#define GIVEN 64
#define ALL   UINT32_MAX /* of the living items are young */

/* ---- one page ---- */

/* Which living items go. */
typedef struct {
    uint32_t young; /* s: not those that were used since then */
    int all;        /* also heads of values, and their ends */
} choice_t;

/* Does what is in the chunk stay in the space? It is not dead. */
static int stays(const store_space_t *space, store_ref_t ref,
                 const store_item_t *owner, choice_t go, uint32_t now)
{
    int class_;

    if (store_age(owner, now) < go.young)
        return 1;
    if (go.all)
        return 0;
    class_ = store_chunk_class(space, store_chunk_page(ref));
    return store_evict_is_part(store_at(space, ref), (unsigned)class_);
}

/* What is in a page. */
typedef struct {
    uint32_t used;  /* chunks with an item */
    uint32_t young; /* items that stay in the space */
    uint32_t dead;
} content_t;

/* Is no chunk of the page used, does no other thread empty it, and can those
 * that stay go to another page? An item that has gone may still be read: its
 * state is FREE, and its chunk is not. */
static int can_go(const store_space_t *space, uint32_t page, unsigned class_,
                  choice_t go, content_t *has)
{
    uint32_t n = store_class_chunks(class_), now = store_clock(), i;

    *has = (content_t){0, 0, 0};
    if (space->chunks->page[page].closed)
        return 0;
    for (i = 0; i < n; i++) {
        store_ref_t ref = store_page_chunk(page, class_, i);
        const store_item_t *item = store_at(space, ref), *owner;

        if (store_state(item) == STORE_FREE)
            continue;
        has->used++;
        owner = store_evict_owner(space, store_at(space, ref));
        if (!store_evict_is_unused(owner))
            return 0;
        if (store_evict_is_dead(space, owner, now))
            has->dead++;
        else if (stays(space, ref, owner, go, now)) {
            has->young++;
            if (store_rescue_is_fixed(item))
                return 0;
        }
    }
    return has->used == space->chunks->page[page].used;
}

/* Is there room for those that stay, if none may be evicted for them? The other
 * pages may have as many dead items as this one. */
static int has_room(const store_space_t *space, uint32_t page, unsigned class_,
                    const content_t *has)
{
    const store_class_stat_t *stat = &space->chunks->class_[class_].stat;
    uint64_t others = stat->pages - 1,
             used = stat->used - space->chunks->page[page].used;

    return STORE_GET(space->evict) ||
           used + has->young <=
               others * (store_class_chunks(class_) + has->dead);
}

static int remove_or_rescue(store_space_t *space, store_ref_t ref, choice_t go)
{
    uint32_t now = store_clock();
    store_item_t *item = store_evict_owner(space, store_at(space, ref));

    if (store_evict_is_dead(space, item, now))
        return store_evict_item(space, item, now, STORE_EVICT_DEAD);
    if (stays(space, ref, item, go, now))
        return store_rescue(space, ref);
    return store_evict_item(space, item, now, STORE_EVICT_LIVING);
}

/* Who has the bucket of the item may wait for the lock of the chunks. So that is
 * given back until the bucket is free.
 * @return 0: nobody has it */
static int give_way(store_space_t *space, const store_item_t *item)
{
    uint64_t hash = store_table_hash(store_item_key(item), item->klen);

    if (store_table_try(space->table, hash)) {
        store_table_unlock(space->table, hash);
        return 0;
    }
    store_chunk_unlock(space);
    store_table_lock(space->table, hash);
    store_table_unlock(space->table, hash);
    store_chunk_lock(space);
    return 1;
}

/* @return 1: nothing is in the chunk */
static int free_chunk(store_space_t *space, store_ref_t ref, choice_t go)
{
    store_item_t *chunk = store_at(space, ref), *item;
    int tries;

    for (tries = 0; tries < TRIES; tries++) {
        if (store_state(chunk) == STORE_FREE ||
            remove_or_rescue(space, ref, go))
            return 1;
        item = store_evict_owner(space, chunk);
        if (!store_evict_is_unused(item) || !give_way(space, item))
            return 0;
    }
    return 0;
}

static int empty(store_space_t *space, uint32_t page, unsigned class_,
                 choice_t go)
{
    uint32_t n = store_class_chunks(class_), i;
    int missed = 0;

    store_page_close(space, page);
    for (i = 0; i < n && !missed; i++) {
        missed = !free_chunk(space, store_page_chunk(page, class_, i), go);
        if (i % TURN == TURN - 1) {
            store_chunk_unlock(space);
            store_chunk_lock(space);
        }
    }
    return store_page_open(space, page);
}

/* ---- a page of a class ---- */

static uint32_t emptiest(const store_space_t *space, uint32_t page)
{
    const store_page_info_t *p = space->chunks->page;
    uint32_t found = page;
    int i;

    for (i = 0; i < ROOMY && page != STORE_NO_PAGE; i++) {
        found = p[page].used < p[found].used ? page : found;
        page = p[page].roomy_next;
    }
    return found;
}

/* Without eviction there is nothing to choose between living items, so the page
 * is taken that has least to move. */
static uint32_t first_page(const store_space_t *space, unsigned class_)
{
    const store_class_info_t *c = &space->chunks->class_[class_];

    if (!STORE_GET(space->evict) && !c->has_dead && c->roomy != STORE_NO_PAGE)
        return emptiest(space, c->roomy);
    if (c->oldest_page != STORE_NO_PAGE &&
        store_chunk_class(space, c->oldest_page) == (int)class_)
        return c->oldest_page;
    return c->hand;
}

/* @return 1: a page is free */
static int empty_one(store_space_t *space, unsigned class_, choice_t go)
{
    uint32_t page = first_page(space, class_), full = 0;
    int tries = 0, looks;

    for (looks = 0;
         looks < LOOKS && tries < TRIES && full < FULL && page != STORE_NO_PAGE;
         looks++) {
        uint32_t next = space->chunks->page[page].next;
        content_t has;

        if (can_go(space, page, class_, go, &has)) {
            if (has_room(space, page, class_, &has)) {
                tries++;
                if (empty(space, page, class_, go))
                    return 1;
                /* The lock was given back. */
                next = space->chunks->class_[class_].hand;
            }
            else {
                full += store_class_chunks(class_);
            }
        }
        page = next;
    }
    return 0;
}

static int move_from(store_space_t *space, unsigned class_, choice_t go)
{
    if (!STORE_GET(space->evict))
        go.young = ALL;
    if (!empty_one(space, class_, go)) {
        store_age_forget(space, class_);
        return 0;
    }
    STORE_ADD(space->figures->page_moves, 1);
    store_age_look_at(space, class_, store_clock());
    return 1;
}

int store_move_from(store_space_t *space, unsigned class_, uint32_t young)
{
    return move_from(space, class_, (choice_t){young, 0});
}

/* ---- which class ---- */

/* @param all also items that were used lately, and heads of values */
static int try_each(store_space_t *space, unsigned class_, int all)
{
    char tried[STORE_CLASSES] = {0};
    unsigned from;

    if (class_ < STORE_CLASSES)
        tried[class_] = 1;
    store_age_look(space, store_clock());
    while ((from = store_age_oldest(space, tried)) != STORE_CLASSES) {
        uint32_t age = space->chunks->class_[from].age / STORE_AGE_PART;

        choice_t go = {all ? 0 : (age + 1) / 2, all};

        if (move_from(space, from, go))
            return 1;
        tried[from] = 1;
    }
    return 0;
}

/* Nothing could be moved, and nothing has changed that matters. */
static int is_refused(const store_space_t *space, const store_class_info_t *c)
{
    return !STORE_GET(space->evict) && c->refused_at == store_clock() &&
           space->chunks->given - c->refused_given < GIVEN;
}

int store_move_for(store_space_t *space, unsigned class_)
{
    store_class_info_t *c =
        class_ < STORE_CLASSES ? &space->chunks->class_[class_] : NULL;

    if (c && is_refused(space, c))
        return 0;
    if (try_each(space, class_, 0) ||
        (STORE_GET(space->evict) && try_each(space, class_, 1)))
        return 1;
    if (c) {
        c->refused_at = store_clock();
        c->refused_given = space->chunks->given;
    }
    return 0;
}
