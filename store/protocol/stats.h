/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file stats.h
 * @brief `stats` of the text and of the binary protocol.
 *
 * The names are those of memcached where it has the same thing. Ours follow.
 * The counters are the sums of all workers, of this space only.
 *
 * Lock:  that of the chunks, for `items` and `slabs`.
 */
#ifndef APPPOOL_STORE_PROTOCOL_STATS_H
#define APPPOOL_STORE_PROTOCOL_STATS_H

#include "store/protocol/dialogue_state.h"
#include "store/protocol/token.h"

/** The command `stats` with its words. */
void store_stats_text(store_dialogue_t *, const store_tokens_t *,
                      store_reply_t *);

/** @param key which statistics; n = 0: the general ones
 *  @return 0: there are none of this name, and nothing was answered */
int store_stats_binary(store_dialogue_t *, store_token_t key, store_reply_t *);

/** The counters of a space, summed over all workers: since the last reset. */
void store_stats_sum(const store_space_t *, store_counters_t *);

void store_stats_reset(const store_space_t *);

/** The space is forgotten, and has no connections. So the space that gets its
 * slot begins with zeros. */
void store_stats_forget(const store_space_t *);

#endif
