/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "store/memory/balance.h"

#include "store/clock.h"
#include "store/memory/age.h"
#include "store/memory/evict.h"
#include "store/memory/move.h"

#define PART STORE_AGE_PART

/* @return the class that is to give a page. STORE_CLASSES: none */
static unsigned older_class(store_space_t *space, unsigned class_,
                            const store_item_t *victim, uint32_t now,
                            uint32_t *young)
{
    store_class_info_t *c = space->chunks->class_;
    uint32_t mine, other;
    unsigned from;

    mine = store_age_note(&c[class_], store_age(victim, now), now);
    store_age_look(space, now);
    from = space->chunks->oldest;
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

int store_balance(store_space_t *space, unsigned class_)
{
    uint32_t now = store_clock();
    int freed;
    store_item_t *victim = store_evict_victim(space, class_, now, &freed);

    if (freed)
        return 1;
    if (victim && STORE_GET(space->evict)) {
        uint32_t young;
        unsigned from = older_class(space, class_, victim, now, &young);

        if (from == STORE_CLASSES
                ? store_evict_item(space, victim, now, STORE_EVICT_LIVING)
                : store_move_from(space, from, young))
            return 1;
    }
    return store_evict(space, class_) || store_move_for(space, class_);
}
