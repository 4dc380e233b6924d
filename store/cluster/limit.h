/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file limit.h
 * @brief The limit of the connections to a space (AppStoreMaxConnections), for
 *        those that are served here and those that are relayed.
 *
 * Lock:  the main thread.
 */
#ifndef APPPOOL_STORE_CLUSTER_LIMIT_H
#define APPPOOL_STORE_CLUSTER_LIMIT_H

#include "store/cluster/stream.h"
#include "store/memory/extent.h"

/**
 * Refuse a client that is one too many: it gets a line, and the log gets one a
 * minute.
 * @param n        connections of the space without this one
 * @param client   a stream, which is closed if it was refused
 * @param noted_at as of store_note_is_due()
 * @return 1: it was refused; 0: it was not
 */
int store_limit_refuses(const store_space_t *, uint64_t n,
                        store_stream_t *client, int64_t *noted_at);

#endif
