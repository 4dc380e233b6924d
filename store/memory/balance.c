/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "store/memory/balance.h"

#include "store/clock.h"
#include "store/memory/age.h"
#include "store/memory/evict.h"
#include "store/memory/move.h"

#define PART STORE_AGE_PART

/* @param mine the age of the class that needs room
 * @return the class that is to give a page. STORE_CLASSES: none */
static unsigned older_class(const store_space_t *space, unsigned class_,
                            uint32_t mine, uint32_t *young)
{
    const store_class_info_t *c = space->chunks->class_;
    unsigned from = space->chunks->oldest;
    uint32_t other;

    if (from == class_ || from == STORE_CLASSES)
        return STORE_CLASSES;
    other = c[from].age;
    if (other <= (uint64_t)mine + mine / 4 + PART)
        return STORE_CLASSES;
    *young = (other / PART + 1) / 2;
    if (*young < mine / PART)
        *young = mine / PART;
    return from;
}

/* Of the oldest class that can give one. What cannot is forgotten for a second.
 * @return 1: a page is free. 0: no class is older. -1: none can give a page */
static int page_of_older(store_space_t *space, unsigned class_,
                         const store_item_t *victim, uint32_t now)
{
    uint32_t young, mine = store_age_note(&space->chunks->class_[class_],
                                          store_age(victim, now), now);
    unsigned i, from;

    store_age_look(space, now);
    for (i = 0; i < STORE_CLASSES; i++) {
        from = older_class(space, class_, mine, &young);
        if (from == STORE_CLASSES)
            break;
        if (store_move_from(space, from, young))
            return 1;
    }
    return i == 0 ? 0 : -1;
}

int store_balance(store_space_t *space, unsigned class_)
{
    uint32_t now = store_clock();
    int freed, moved;
    store_item_t *victim = store_evict_victim(space, class_, now, &freed);

    if (freed)
        return 1;
    if (victim && STORE_GET(space->evict)) {
        moved = page_of_older(space, class_, victim, now);
        /* If none can, the lock was given back, and the victim may be gone. */
        if (moved > 0 || (moved == 0 && store_evict_item(space, victim, now,
                                                         STORE_EVICT_LIVING)))
            return 1;
    }
    return store_evict(space, class_) || store_move_for(space, class_);
}
