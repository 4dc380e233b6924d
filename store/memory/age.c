/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "store/memory/age.h"

#include "store/memory/evict.h"

#define STALE 10 /* s: after so long an age says nothing */
#define MEAN  32 /* samples */

/* Who has one page keeps it. */
static void settle(store_space_t *space)
{
    const store_class_info_t *c = space->chunks->class_;
    char tried[STORE_CLASSES];
    unsigned i;

    for (i = 0; i < STORE_CLASSES; i++)
        tried[i] = c[i].stat.pages < 2;
    space->chunks->oldest = store_age_oldest(space, tried);
}

uint32_t store_age_note(store_class_info_t *c, uint32_t age, uint32_t now)
{
    int64_t is = (int64_t)age * STORE_AGE_PART, was = c->age;

    if (c->aged_at != 0 && now - c->aged_at <= STALE)
        is = was + (is - was) / MEAN;
    c->age = (uint32_t)is;
    c->aged_at = now;
    return c->age;
}

static void look_at(store_space_t *space, unsigned class_, uint32_t now)
{
    store_class_info_t *c = &space->chunks->class_[class_];
    const store_item_t *oldest = NULL;
    store_sample_t sample;
    unsigned i;

    c->oldest_page = STORE_NO_PAGE;
    c->has_dead = 0;
    store_chunk_sample(space, class_, &sample);
    for (i = 0; i < sample.n && !c->has_dead; i++) {
        store_ref_t ref = store_ref(space, sample.chunk[i]);
        const store_item_t *item = store_evict_owner(space, sample.chunk[i]);

        if (!store_evict_is_unused(item))
            continue;
        c->has_dead =
            !STORE_GET(space->evict) && store_evict_is_dead(space, item, now);
        if (!c->has_dead && store_evict_is_part(sample.chunk[i], class_))
            continue;
        if (c->has_dead || !oldest || store_evict_is_older(item, oldest)) {
            oldest = item;
            c->oldest_page = store_chunk_page(ref);
        }
    }
    if (oldest)
        store_age_note(c, store_age(oldest, now), now);
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
        if (space->chunks->class_[i].hand != STORE_NO_PAGE)
            look_at(space, i, now);
    settle(space);
}

void store_age_forget(store_space_t *space, unsigned class_)
{
    store_class_info_t *c = &space->chunks->class_[class_];

    c->oldest_page = STORE_NO_PAGE;
    c->has_dead = 0;
    c->age = c->aged_at = 0;
    settle(space);
}

static int is_older(const store_class_info_t *c, const store_class_info_t *than)
{
    return c->has_dead != than->has_dead ? c->has_dead : c->age > than->age;
}

/* Of two with the same age the larger one, whose page has fewer items. */
unsigned store_age_oldest(const store_space_t *space, const char *tried)
{
    const store_class_info_t *c = space->chunks->class_;
    unsigned i, found = STORE_CLASSES;

    for (i = STORE_CLASSES; i-- > 0;)
        if (!tried[i] && c[i].hand != STORE_NO_PAGE &&
            (found == STORE_CLASSES || is_older(&c[i], &c[found])))
            found = i;
    return found;
}
