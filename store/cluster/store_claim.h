/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file store_claim.h
 * @brief Another host says that its data is better than the master's.
 *
 * The hello of each slave has the history of its data. A slave that does not
 * forget it for this master has a claim. The master goes on to serve, but it is
 * not ready to be the master for some time, so keepalived moves the address.
 *
 * Lock:  any thread; a lock of its own.
 * Trust: a host that has not proven that it knows the secret claims nothing,
 *        unless there is no secret.
 */
#ifndef APPPOOL_STORE_CLUSTER_STORE_CLAIM_H
#define APPPOOL_STORE_CLUSTER_STORE_CLAIM_H

#include "store/cluster/cluster.h"

/** Nobody has claimed anything. */
void store_claim_clear(void);

/**
 * Another host has this history. A claim is logged, at most once a minute.
 * @param mine       what is sent to it
 * @param name       of the host, for the log
 * @param is_trusted it knows the secret, or there is none
 * @return 1: it does not join: it keeps its own data
 */
int store_claim_hear(const store_history_t *claimed,
                     const store_history_t *mine, const char *name,
                     int is_trusted);

/** Was there a claim in the last 15 s, whose host has not joined since then? */
int store_claim_is_there(void);

#endif
