/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file asked.h
 * @brief Answers the other hosts of AppStorePeers which data this one has
 *        (ask.h), at the address of AppStorePeers that is here.
 *
 * A host without such an address, for example while its network is not up,
 * answers nobody. It looks for the address once a second.
 *
 * Lock:  the main thread.
 * Trust: hosts of AppStorePeers only; see talk.h. A new one takes the place of
 *        the oldest one, so who says nothing keeps nobody out.
 */
#ifndef APPPOOL_STORE_CLUSTER_ASKED_H
#define APPPOOL_STORE_CLUSTER_ASKED_H

#include "store/cluster/cluster.h"

void store_asked_begin(const store_cluster_hooks_t *);

/** Once a second. @param now ms */
void store_asked_tick(int64_t now);

/** Does another socket have the port at its address? Then the other hosts do not
 * learn what this one has, and an older one may become the master. */
int store_asked_is_deaf(void);

void store_asked_end(void);

#endif
