/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "store/server/handover.h"

void store_handover_open(store_handover_t *h)
{
    pthread_mutex_init(&h->guard, NULL);
    pthread_cond_init(&h->changed, NULL);
    h->full = NULL;
    h->is_over = 0;
}

void store_handover_close(store_handover_t *h)
{
    pthread_cond_destroy(&h->changed);
    pthread_mutex_destroy(&h->guard);
}

int store_handover_give(store_handover_t *h, void *block)
{
    int is_over;

    pthread_mutex_lock(&h->guard);
    while (h->full && !h->is_over)
        pthread_cond_wait(&h->changed, &h->guard);
    is_over = h->is_over;
    if (!is_over)
        h->full = block;
    pthread_cond_signal(&h->changed);
    pthread_mutex_unlock(&h->guard);
    return is_over ? -1 : 0;
}

void store_handover_end(store_handover_t *h)
{
    pthread_mutex_lock(&h->guard);
    h->is_over = 1;
    pthread_cond_signal(&h->changed);
    pthread_mutex_unlock(&h->guard);
}

void *store_handover_take(store_handover_t *h)
{
    void *block;

    pthread_mutex_lock(&h->guard);
    while (!h->full && !h->is_over)
        pthread_cond_wait(&h->changed, &h->guard);
    block = h->full;
    pthread_mutex_unlock(&h->guard);
    return block;
}

void store_handover_done(store_handover_t *h, int enough)
{
    pthread_mutex_lock(&h->guard);
    h->full = NULL;
    h->is_over |= enough;
    pthread_cond_signal(&h->changed);
    pthread_mutex_unlock(&h->guard);
}
