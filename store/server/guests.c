/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "store/server/guests.h"

#include <stddef.h>

void store_guests_add(store_guests_t *list, store_guest_t *g, int64_t now)
{
    g->until = now + STORE_GUESTS_TIME;
    g->next = NULL;
    g->previous = list->last;
    if (list->last)
        list->last->next = g;
    else
        list->first = g;
    list->last = g;
    list->n++;
}

void store_guests_remove(store_guests_t *list, store_guest_t *g)
{
    if (g->previous)
        g->previous->next = g->next;
    else
        list->first = g->next;
    if (g->next)
        g->next->previous = g->previous;
    else
        list->last = g->previous;
    list->n--;
}

store_guest_t *store_guests_due(const store_guests_t *list, int64_t now)
{
    int is_full = list->n >= STORE_GUESTS_MAX;

    return list->first && (is_full || now >= list->first->until) ? list->first
                                                                 : NULL;
}
