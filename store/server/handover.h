/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file handover.h
 * @brief Two threads share a long work: one fills blocks, and the other one
 *        empties them.
 *
 * There are two blocks. While one of them is emptied, the other one is filled.
 *
 * Lock: one of its own, for a moment.
 */
#ifndef APPPOOL_STORE_SERVER_HANDOVER_H
#define APPPOOL_STORE_SERVER_HANDOVER_H

#include <pthread.h>

typedef struct {
    pthread_mutex_t guard;
    pthread_cond_t changed;
    void *full;  /**< it is emptied, or waits for that; NULL: there is none */
    int is_over; /**< no block comes any more, or none is wanted */
} store_handover_t;

void store_handover_open(store_handover_t *);
void store_handover_close(store_handover_t *);

/** @name for the one that fills
 * @{ */
/** Wait until the other block is empty, and hand this one over.
 * @return 0; -1: no block is wanted any more */
int store_handover_give(store_handover_t *, void *block);
/** The block that was given was the last one. */
void store_handover_end(store_handover_t *);
/** @} */

/** @name for the one that empties
 * @{ */
/** Wait for a block. @return NULL: there is no more */
void *store_handover_take(store_handover_t *);
/** What was taken is empty now. @param enough 1: no block is wanted any more */
void store_handover_done(store_handover_t *, int enough);
/** @} */

#endif
