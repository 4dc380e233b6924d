/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file dial.h
 * @brief Connects a slave to the master: socket, TLS, hello.
 *
 * Lock:  none.
 * Errors: NULL or -1, and errno; ECANCELED: the bell has rung.
 */
#ifndef APPPOOL_STORE_CLUSTER_DIAL_H
#define APPPOOL_STORE_CLUSTER_DIAL_H

#include "store/cluster/cluster.h"
#include "store/cluster/stream.h"

/**
 * Connect to the port `repl` of the virtual address, and say hello.
 * @param is_plain 1: without TLS; 0: there is a secret
 * @param bell     an eventfd; it is not read
 * @param answered gets 1 if a host has taken the connection, also when the rest
 *                 fails; 0 if not
 * @return the caller closes it
 */
store_stream_t *store_dial(const store_cluster_hooks_t *, int is_plain,
                           int bell, int *answered);

/** Wait for a descriptor. @param fd -1: for the bell only
 * @return 1: it is ready; 0: the time is over; -1 */
int store_dial_await(int fd, short events, int bell, int64_t ms);

#endif
