/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "store/command/attendance.h"

#include <pthread.h>
#include <stddef.h>
#include <stdlib.h>

#include "store/clock.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static store_attendant_t *first, *last;
static uint64_t so_far;

void store_attendance_begin(store_attendant_t *a, const store_space_t *space)
{
    a->space = space;
    a->shown = (store_shown_t){.spoke = store_clock()};
    a->next = NULL;
    pthread_mutex_lock(&lock);
    a->shown.number = ++so_far;
    a->previous = last;
    *(last ? &last->next : &first) = a;
    last = a;
    pthread_mutex_unlock(&lock);
}

void store_attendance_end(store_attendant_t *a)
{
    pthread_mutex_lock(&lock);
    *(a->previous ? &a->previous->next : &first) = a->next;
    *(a->next ? &a->next->previous : &last) = a->previous;
    pthread_mutex_unlock(&lock);
}

static unsigned count(const store_space_t *space)
{
    unsigned n = 0;

    for (const store_attendant_t *a = first; a; a = a->next)
        n += a->space == space;
    return n;
}

static void copy(store_shown_t *to, const store_shown_t *from)
{
    to->number = from->number;
    to->spoke = STORE_GET(from->spoke);
    to->n_locks = STORE_GET(from->n_locks);
    to->n_counters = STORE_GET(from->n_counters);
    to->protocol = STORE_GET(from->protocol);
    to->phase = STORE_GET(from->phase);
}

/* Memory is taken without the lock. Those that come meanwhile are left out. */
store_shown_t *store_attendance_list(const store_space_t *space, unsigned *n)
{
    store_shown_t *list;
    unsigned room;

    pthread_mutex_lock(&lock);
    room = count(space);
    pthread_mutex_unlock(&lock);
    list = malloc((room + 1) * sizeof *list);
    *n = 0;
    if (list == NULL)
        return NULL;
    pthread_mutex_lock(&lock);
    for (const store_attendant_t *a = first; a && *n < room; a = a->next)
        if (a->space == space)
            copy(&list[(*n)++], &a->shown);
    pthread_mutex_unlock(&lock);
    return list;
}
