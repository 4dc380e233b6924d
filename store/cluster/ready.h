/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file ready.h
 * @brief May this slave become the master?
 *
 * Lock:  the main thread.
 */
#ifndef APPPOOL_STORE_CLUSTER_READY_H
#define APPPOOL_STORE_CLUSTER_READY_H

#include "store/cluster/follower_state.h"
#include "base/store_figures.h"

/**
 * A slave is ready if its copy is complete and not stale (follower_state.h), and no
 * master has refused it in the last 10 s. It also is if it keeps its own data, because the master that it has
 * met has no better data, or if it has met no master. In these two cases no other
 * host may have answered that it has better data.
 * @param began ms, of clock_ms(): when it began as a slave
 */
store_ready_t store_ready_slave(const store_follower_state_t *, int64_t began);

#endif
