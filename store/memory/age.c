/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "store/memory/age.h"

#include "store/memory/evict.h"

static void settle(store_space_t *space)
{
    static const char none[STORE_CLASSES];

    space->chunks->oldest = store_age_oldest(space, none);
}

static void look_at(store_space_t *space, unsigned class_, uint32_t now)
{
    store_class_info_t *c = &space->chunks->class_[class_];
    store_sample_t sample;
    unsigned i;

    c->oldest_page = STORE_NO_PAGE;
    c->oldest = 0;
    store_chunk_sample(space, class_, &sample);
    for (i = 0; i < sample.n; i++) {
        store_ref_t ref = store_ref(space, sample.chunk[i]);
        const store_item_t *item = store_evict_owner(space, ref);
        uint32_t age =
            !STORE_GET(space->evict) && store_evict_is_dead(space, item, now)
                ? STORE_AGE_DEAD
                : store_age(item, now);

        if (store_evict_is_unused(item) &&
            (c->oldest_page == STORE_NO_PAGE || age > c->oldest)) {
            c->oldest = age;
            c->oldest_page = store_chunk_page(ref);
        }
    }
}

void store_age_look_at(store_space_t *space, unsigned class_, uint32_t now)
{
    look_at(space, class_, now);
    settle(space);
}

void store_age_look(store_space_t *space, uint32_t now)
{
    unsigned i;

    if (space->chunks->looked_at == now)
        return;
    space->chunks->looked_at = now;
    for (i = 0; i < STORE_CLASSES; i++)
        look_at(space, i, now);
    settle(space);
}

void store_age_forget(store_space_t *space, unsigned class_)
{
    space->chunks->class_[class_].oldest_page = STORE_NO_PAGE;
    space->chunks->class_[class_].oldest = 0;
    settle(space);
}

unsigned store_age_oldest(const store_space_t *space, const char *tried)
{
    const store_class_info_t *c = space->chunks->class_;
    unsigned i, found = STORE_CLASSES;

    for (i = 0; i < STORE_CLASSES; i++)
        if (!tried[i] && c[i].hand != STORE_NO_PAGE &&
            (found == STORE_CLASSES || c[i].oldest > c[found].oldest))
            found = i;
    return found;
}
