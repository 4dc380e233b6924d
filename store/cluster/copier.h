/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file copier.h
 * @brief Goes over all items of some spaces for a slave that joins.
 *
 * It takes references to the items of some buckets, and gives them back when
 * they are sent. An item that was replaced or removed in between is not sent:
 * that is a change, and the list of changes has it.
 *
 * Lock:  none; one thread. It takes one bucket lock at a time, for as long as
 *        the list of one bucket is.
 * Errors: -1: the connection is over; see slave_link.h.
 */
#ifndef APPPOOL_STORE_CLUSTER_COPIER_H
#define APPPOOL_STORE_CLUSTER_COPIER_H

#include "store/cluster/sender.h"

typedef struct {
    store_space_t *space[STORE_SPACES];
    unsigned n_spaces;
    unsigned at;     /**< space; n_spaces: it has gone over all */
    uint32_t bucket; /**< the next one */
    uint64_t items;  /**< that were sent */

    store_item_t **taken; /**< references */
    unsigned n, room;
    uint32_t bytes; /**< of their values */
    int is_full;    /**< a bucket has had more items than there was room */
} store_copier_t;

/** Begin with no space. @return 0, or -1: no memory */
int store_copier_open(store_copier_t *);

/** Go over this space, too. @return 1; 0: it is in the copy already */
unsigned store_copier_add(store_copier_t *, store_space_t *);

/** Send the items of some buckets. */
int store_copier_run(store_copier_t *, store_sender_t *);

static inline int store_copier_is_done(const store_copier_t *c)
{
    return c->at == c->n_spaces;
}

void store_copier_close(store_copier_t *);

#endif
