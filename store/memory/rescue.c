/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "store/memory/rescue.h"

#include <string.h>

#include "store/memory/chunk.h"
#include "store/memory/evict.h"
#include "store/memory/table.h"

#define TRIES 8 /* what is removed for it may be in the page that is closed */

int store_rescue_is_fixed(const store_item_t *item)
{
    return store_state(item) == STORE_LIVE &&
           (STORE_GET(item->bits) & STORE_CHAINED);
}

/* A free page is for the class that needs one.
 * @return 0: there is no room */
static store_ref_t room(store_space_t *space, unsigned class_)
{
    const store_class_info_t *c = &space->chunks->class_[class_];
    int tries;

    for (tries = 0; tries < TRIES && c->roomy == STORE_NO_PAGE; tries++)
        if (!store_evict(space, class_))
            return 0;
    return c->roomy == STORE_NO_PAGE ? 0 : store_chunk_take(space, class_);
}

/* All but the state, which comes last. */
static void copy(store_item_t *to, const store_item_t *from)
{
    store_item_t header = *from;

    memcpy(store_item_key(to), store_item_key(from),
           (size_t)from->klen + from->length);
    header.state = STORE_WRITING;
    *to = header;
}

static void move_item(store_space_t *space, uint64_t hash, store_item_t *item,
                      store_item_t *to)
{
    copy(to, item);
    store_state_set(to, STORE_LIVE);
    store_table_replace(space, hash, item, to);
}

/* The new piece is not reached, and then the old one is not. The first piece of
 * a large value takes its place in their ring along (chunk.h). */
static void move_piece(store_space_t *space, store_item_t *head,
                       store_item_t *piece, store_item_t *to)
{
    store_ref_t from = store_ref(space, piece), new = store_ref(space, to),
                ref = store_piece_first(head);

    copy(to, piece);
    store_state_set(to, STORE_PIECE);
    if (ref == from)
        memcpy(store_piece_link(head), &new, sizeof new);
    else {
        while (store_at(space, ref)->next != from)
            ref = store_at(space, ref)->next;
        store_at(space, ref)->next = new;
    }
}

/* @return 1: it was moved. 0: it is in use */
static int move(store_space_t *space, store_item_t *chunk, store_item_t *to)
{
    store_item_t *head = store_evict_owner(space, chunk);
    uint64_t hash = store_table_hash(store_item_key(head), head->klen);
    int unused;

    if (!store_table_try(space->table, hash))
        return 0;
    unused = store_evict_is_unused(head);
    if (unused && head == chunk)
        move_item(space, hash, chunk, to);
    else if (unused)
        move_piece(space, head, chunk, to);
    store_table_unlock(space->table, hash);
    return unused;
}

int store_rescue(store_space_t *space, store_ref_t ref)
{
    store_item_t *chunk = store_at(space, ref);
    int class_ = store_chunk_class(space, store_chunk_page(ref)), moved;
    store_ref_t to;

    if (store_rescue_is_fixed(chunk) ||
        !store_evict_is_unused(store_evict_owner(space, chunk)))
        return 0;
    to = room(space, (unsigned)class_);
    /* Room for it was perhaps made of itself. */
    moved = to && store_state(chunk) != STORE_FREE &&
            move(space, chunk, store_at(space, to));
    if (moved)
        store_chunk_give(space, ref);
    else if (to)
        store_chunk_give(space, to);
    return store_state(chunk) == STORE_FREE;
}
