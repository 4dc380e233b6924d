/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file role.h
 * @brief Master or slave: the host that has the virtual address is the master.
 *
 *     begin -- no AppStoreVirtualIP -----> alone
 *     begin -- the address is here ------> master
 *     begin -- it is not ----------------> slave
 *     slave -- the address comes here ---> master, with its data
 *     master - the address is lost ------> ends with CONTRACT_EXIT_AGAIN, and
 *     is
 *                                          a slave after the start
 *
 * Nobody is elected: the address is moved by keepalived or by hand. The kernel
 * reports it by netlink; the role also looks once a second. A master ends if
 * the address is not in the list of addresses, and the kernel has reported that
 * it has gone. Without such a report, a second look has to find the same.
 *
 * A slave whose connection to the master has ended looks for the address for
 * 5 s, each 100 ms. A promotion joins the follower, takes slaves, and serves
 * the clients that waited. A host that becomes the master, also one that begins
 * as the master, raises the cas counter of each space first (promotion.h).
 *
 * Lock:  the main thread; store_role() any thread.
 */
#ifndef APPPOOL_STORE_CLUSTER_ROLE_H
#define APPPOOL_STORE_CLUSTER_ROLE_H

#include "base/store_figures.h"
#include "store/cluster/cluster.h"
#include "store/cluster/follower_state.h"

/** Open netlink, look for the address, and begin as what this host is. Each
 * change of the role is one line of the log.
 * @return 0, or -1: that was logged */
int store_role_begin(const store_cluster_hooks_t *);

store_role_t store_role(void);

/** Once a second, and also each 100 ms while store_role_is_hurried(). */
void store_role_tick(int64_t now);
int store_role_is_hurried(void);

/** Has this process to end with CONTRACT_EXIT_AGAIN? */
int store_role_is_over(void);

/** May this host become the master, or stay it? A master may not while
 * another host has better data (store_claim.h). */
store_ready_t store_role_is_ready(void);

/**
 * A slave is ready if its copy is complete and not stale (follower_state.h),
 * and no master has refused it in the last 10 s. It also is if it keeps its own
 * data, because the master that it has met has no better data, or if it has met
 * no master. In these two cases no other host may have answered that it has
 * better data. One that has lost its master in the middle of a copy, and had a
 * whole one before, has an old copy.
 * @param began ms, of clock_ms(): when it began as a slave
 */
store_ready_t store_role_may_lead(const store_follower_state_t *,
                                  int64_t began);

/**
 * Before a planned move of the address: serve nothing, and send all changes.
 * The store serves again after 30 s if it still has the address.
 * @return NULL, or why not
 */
const char *store_role_handover(void);

/** By hand: this slave has no copy from now on: it takes the one of the next
 * master that it meets, whatever it is. Its items stay until then.
 * @return NULL, or why not */
const char *store_role_forget(void);

/** End threads and connections. */
void store_role_end(void);

#endif
