/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file confirm.h
 * @brief Which slaves have a copy that follows this master, and up to which
 *        position they have confirmed it.
 *
 * A slave that has the whole copy joins. It confirms a position by its echo of a
 * mark (wire.h). A slave whose connection ends without a BYE may be promoted, so
 * it does not leave at once.
 *
 * Lock:  none; any thread. A slave's own feeder writes its state.
 */
#ifndef APPPOOL_STORE_CLUSTER_CONFIRM_H
#define APPPOOL_STORE_CLUSTER_CONFIRM_H

#include <stdint.h>

/** What is known of the slave with this place among the figures. */
typedef struct {
    int is_member;     /**< it has the whole copy */
    uint64_t position; /**< it has applied all changes up to this one */
    int64_t heard_at;  /**< ms, of clock_ms(): of the last echo, or of the join;
                          0: never */
    int64_t left_at; /**< ms: its connection has ended without a BYE; 0: not */
} store_confirm_t;

/** It has the whole copy. */
void store_confirm_joins(unsigned slot);

/** It has echoed the mark of this position. */
void store_confirm_heard(unsigned slot, uint64_t position);

/** Its connection has ended, and it had joined. @param in_order 1: it has said
 * BYE before: it is not promoted */
void store_confirm_leaves(unsigned slot, int in_order);

/** Does somebody hold a reply until the slaves confirm? Then changes are sent at
 * once. */
int store_confirm_is_awaited(void);

/** Is there a space whose changes are confirmed? Then each mark asks the slave to
 * echo it at once, and not only within a second: a mark goes out before a worker
 * knows that it has to wait for it. */
int store_confirm_is_wanted(void);

void store_confirm_state(unsigned slot, store_confirm_t *);

#endif
