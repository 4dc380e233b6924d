/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file guests.h
 * @brief Connections of peers that have not said yet what they want. They are in
 *        the order of their arrival, and each has the same time. A list that
 *        is full loses its oldest for the next one: who has something to say
 *        does it at once, so the silent ones keep nobody out.
 *
 * Lock:  the caller's.
 */
#ifndef APPPOOL_STORE_SERVER_GUESTS_H
#define APPPOOL_STORE_SERVER_GUESTS_H

#include <stdint.h>

#define STORE_GUESTS_MAX  1024  /* in a list */
#define STORE_GUESTS_TIME 10000 /* ms */

/** The first member of what a list has. */
typedef struct store_guest {
    struct store_guest *next, *previous;
    int64_t until; /**< ms */
} store_guest_t;

/** Zero: it is empty. */
typedef struct {
    store_guest_t *first, *last;
    unsigned n;
} store_guests_t;

/** Its time begins. First end those that store_guests_due() names. */
void store_guests_add(store_guests_t *, store_guest_t *, int64_t now);

void store_guests_remove(store_guests_t *, store_guest_t *);

/** The oldest, if its time is over or the list is full; NULL: nobody has to
 * go. */
store_guest_t *store_guests_due(const store_guests_t *, int64_t now);

#endif
