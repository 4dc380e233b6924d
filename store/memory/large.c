/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "store/memory/large.h"

#include "store/memory/piece_link.h"

/* Chunks of all pieces. The head is small. */
static uint32_t chunks_of(const store_item_t *head)
{
    return (head->length + STORE_PIECE_BYTES - 1) / STORE_PIECE_BYTES;
}

static store_item_t *links_of(const store_space_t *space, store_ref_t head)
{
    return store_at(space, store_piece_first(store_at(space, head)));
}

/* Before the hand, which comes to it last. */
void store_large_add(store_space_t *space, store_item_t *head)
{
    store_ref_t ref = store_ref(space, head), next, prev;
    store_item_t *own = links_of(space, ref);

    if (space->large_hand == 0) {
        space->large_hand = ref;
        own->exptime = own->used = ref;
    }
    next = space->large_hand;
    prev = links_of(space, next)->exptime;
    own->exptime = prev;
    own->used = next;
    links_of(space, prev)->used = ref;
    links_of(space, next)->exptime = ref;
    space->large_chunks += chunks_of(head);
}

void store_large_remove(store_space_t *space, store_item_t *head)
{
    store_ref_t ref = store_ref(space, head);
    store_item_t *own = links_of(space, ref);
    store_ref_t prev = own->exptime, next = own->used;

    links_of(space, prev)->used = next;
    links_of(space, next)->exptime = prev;
    if (space->large_hand == ref)
        space->large_hand = next == ref ? 0 : next;
    space->large_chunks -= chunks_of(head);
}

store_item_t *store_large_next(store_space_t *space)
{
    store_ref_t ref = space->large_hand;

    if (ref == 0)
        return NULL;
    space->large_hand = links_of(space, ref)->used;
    return store_at(space, ref);
}

int store_large_exceed(const store_space_t *space)
{
    uint32_t in_a_page = store_class_chunks(STORE_CLASSES - 1);

    return space->large_chunks > STORE_GET(space->pages_max) * in_a_page / 2;
}

/* One that is alone has passed the limit of a single value. */
int store_large_comes(store_space_t *space, uint32_t length)
{
    uint64_t half = (uint64_t)STORE_GET(space->pages_max) * (STORE_PAGE / 2);
    uint64_t all =
        __atomic_add_fetch(&space->large_coming, length, __ATOMIC_RELAXED);

    if (all <= half || all == length)
        return 1;
    store_large_has_come(space, length);
    return 0;
}

void store_large_has_come(store_space_t *space, uint32_t length)
{
    STORE_ADD(space->large_coming, -(uint64_t)length);
}
