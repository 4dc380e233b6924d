/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file history.h
 * @brief Where the data of this host comes from: what it tells to others, and
 *        what it takes over from its master.
 *
 *     slave:  offer (hello) -> the copy -> complete: the master's history is
 *     ours
 *                           `-> mark: so many changes of it are here
 *     master: begin: one epoch more. Each change counts in its position
 *
 * Lock:  a slave's follower writes, or the main thread while there is no
 *        follower, under a lock of its own. Any thread reads.
 * Crash: the history is in the directory, and outlives the process.
 */
#ifndef APPPOOL_STORE_CLUSTER_HISTORY_H
#define APPPOOL_STORE_CLUSTER_HISTORY_H

#include "store/cluster/cluster.h"

/** The history of the data of this host. n = 0: it has no copy, or a part of
 * one. */
void store_history_own(store_history_t *to);

/** The store is alone: no other host has more, and what it changes is no data
 * of a cluster. */
void store_history_end(void);

/** This host becomes the master. Its changes are counted from now on. Before
 * anybody is served. */
void store_history_begin(const store_cluster_hooks_t *);

/** It began empty, and another host has data. Any thread. */
void store_history_contest(void);

/** The master has this history, and its copy follows. n = 0: a yrmcds. */
void store_history_offer(const store_history_t *);

/** All changes up to this position of the master's epoch are here. */
void store_history_mark(uint64_t position);

/** The copy is complete. Before the directory says so. */
void store_history_complete(void);

/** For the figures: what others see. */
void store_history_show(void);

#endif
