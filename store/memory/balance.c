/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "store/memory/balance.h"

#include "store/clock.h"
#include "store/memory/age.h"
#include "store/memory/evict.h"
#include "store/memory/move.h"

#define PART 16 /* of a second */

/* The victims of a sample differ, and one that is young by chance would cost a
 * page. @return 1/PART s */
static uint32_t mean_age(store_class_info_t *c, uint32_t age, uint32_t now)
{
    if (now - c->victims_at > 1)
        c->victims_age = age * PART;
    else
        c->victims_age += age - c->victims_age / PART;
    c->victims_at = now;
    return c->victims_age;
}

/* @return the class that is to give a page. STORE_CLASSES: none */
static unsigned older_class(store_space_t *space, unsigned class_,
                            const store_item_t *victim, uint32_t *young)
{
    store_class_info_t *c = space->chunks->class_;
    uint32_t now = store_clock(), oldest, mean;
    unsigned from;

    mean = mean_age(&c[class_], store_age(victim, now), now);
    store_age_look(space, now);
    from = space->chunks->oldest;
    if (from == class_ || from == STORE_CLASSES)
        return STORE_CLASSES;
    oldest = c[from].oldest;
    if ((uint64_t)oldest * PART <= (uint64_t)mean + mean / 8 + PART)
        return STORE_CLASSES;
    *young = (oldest + 1) / 2;
    if (*young < mean / PART)
        *young = mean / PART;
    return from;
}

int store_balance(store_space_t *space, unsigned class_)
{
    int freed;
    store_item_t *victim = store_evict_victim(space, class_, &freed);

    if (freed)
        return 1;
    if (victim && STORE_GET(space->evict)) {
        uint32_t young;
        unsigned from = older_class(space, class_, victim, &young);

        if (from == STORE_CLASSES
                ? store_evict_item(space, victim, store_clock(),
                                   STORE_EVICT_LIVING)
                : store_move_from(space, from, young))
            return 1;
    }
    return store_evict(space, class_) || store_move_for(space, class_);
}
