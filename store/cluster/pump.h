/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file pump.h
 * @brief Passes bytes between a TLS connection of a relay and a worker.
 *
 * A worker reads and writes plain bytes. So a relay that speaks TLS is joined to
 * a worker by a socket pair. One thread does that for all relays. It is started
 * with the first.
 *
 * Lock:  the functions: the main thread.
 * Trust: the other host knows the secret. The bytes are those of a client.
 */
#ifndef APPPOOL_STORE_CLUSTER_PUMP_H
#define APPPOOL_STORE_CLUSTER_PUMP_H

#include "store/cluster/stream.h"

/** Pass all bytes in both directions, until one of both ends. Takes both.
 * @return 0, or -1: errno, both are closed */
int store_pump_join(store_stream_t *relay, int worker);

/** Close all, end the thread. */
void store_pump_end(void);

#endif
