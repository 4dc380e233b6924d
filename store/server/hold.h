/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file hold.h
 * @brief The replies of a connection that wait until the slaves have confirmed
 *        what its commands have changed (AppStoreConfirm).
 *
 * All replies of a turn are sent together, so all of them wait: also those of
 * reads. The connection has no other turn meanwhile, so it reads nothing, and its
 * client meets a full socket.
 *
 * Lock:  none; the worker.
 */
#ifndef APPPOOL_STORE_SERVER_HOLD_H
#define APPPOOL_STORE_SERVER_HOLD_H

#include "store/cluster/confirm.h"

/** Of a connection; all 0: nothing is held. */
typedef struct {
    uint64_t position; /**< all slaves have to confirm it; 0: none */
    unsigned writes;   /**< whose replies are held */
    uint8_t is_whole;  /**< nothing of what is held was sent */
    uint8_t is_alone;  /**< one command's reply is held */
} store_hold_t;

/**
 * The commands of a turn are done. Are their replies held?
 * @param before of store_changes_mine(), before the turn
 * @param writes that were done (store_session_writes())
 */
void store_hold_begin(store_hold_t *, const store_space_t *, uint64_t before,
                      unsigned writes);

/** May it end? All that have to confirm it have, or none is left. A space that
 * refuses waits for those that are unknown, too (confirm.h). */
int store_hold_ends(const store_hold_t *, const store_space_t *,
                    const store_confirmed_t *);

/**
 * Nothing is held any more. What was not confirmed is counted.
 * @return 0: the replies are sent; -1: an error is sent in their place
 */
int store_hold_end(store_hold_t *, const store_space_t *, store_counters_t *,
                   const store_confirmed_t *);

#endif
