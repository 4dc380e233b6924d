/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file join.h
 * @brief A slave decides whether it forgets its items for this master.
 *
 * Lock:  the follower's thread.
 * Trust: the master has proven that it knows the secret, or there is none.
 */
#ifndef APPPOOL_STORE_CLUSTER_JOIN_H
#define APPPOOL_STORE_CLUSTER_JOIN_H

#include "store/cluster/cluster.h"
#include "store/cluster/wire.h"

/**
 * The master has sent its hello. If the answer is yes, its history is that of
 * this host as soon as the copy is complete. If it is no, because the data of
 * this host is better, the log says so, at most once a minute. Changes that are
 * dropped are logged, too.
 * @param is_plain it has not proven that it knows the secret
 * @param value    p->value bytes of the hello
 * @param is_declined  gets 1 if the data of this host is better
 * @return NULL: yes; why not
 */
const char *store_join(const store_cluster_hooks_t *, int is_plain,
                       const store_packet_t *p, const char *value,
                       int *is_declined);

/** The master is a yrmcds. It has no history, and each slave takes its copy. */
void store_join_yrmcds(void);

#endif
