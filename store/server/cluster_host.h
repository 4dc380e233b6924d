/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file cluster_host.h
 * @brief What the server gives to the cluster (store/cluster/cluster.h): its
 *        loop, its spaces, its workers.
 *
 * Lock:  the main thread. Other threads find spaces.
 */
#ifndef APPPOOL_STORE_SERVER_CLUSTER_HOST_H
#define APPPOOL_STORE_SERVER_CLUSTER_HOST_H

#include "store/cluster/cluster.h"
#include "store/server/worker.h"

/**
 * Begin as what this host is. The spaces are open, and the workers run.
 * @param config is copied
 * @return 0, or -1: that was logged
 */
int store_cluster_host_begin(const store_cluster_t *config,
                             store_worker_t *workers, unsigned n);

/** Root may ask this host for a handover, and other things (admin_socket.h).
 * Nothing if the store is alone. @param directory CONTRACT_STORES, absolute */
void store_cluster_host_admit_root(const char *directory);

/** Once a second, and while store_role_is_hurried(). @param now ms */
void store_cluster_host_tick(int64_t now);

/** Before the workers end. */
void store_cluster_host_end(void);

/** The spaces have changed: do changes of one of them have to be confirmed? */
void store_cluster_host_confirm(void);

/** Is a slave there that can confirm? A store that is alone needs none. Any
 * thread. */
int store_cluster_host_can_confirm(void);

/** Is this the configuration of the cluster that is in use? */
int store_cluster_host_is(const store_cluster_t *);

#endif
