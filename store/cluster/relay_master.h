/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file relay_master.h
 * @brief Makes the connections of the relay to the master, up to where the
 *        client's bytes may follow.
 *
 * While no master can be reached, only one connection is tried at a time, each
 * 100 ms: a thousand clients that wait cost one packet, not a thousand.
 *
 * Lock:  the thread of the relay.
 * Trust: a master with TLS has proven that it knows the secret. Without TLS it
 *        may be anybody, so it gets clients of the open space only, and no
 *        other name. Its reply is checked all the same.
 */
#ifndef APPPOOL_STORE_CLUSTER_RELAY_MASTER_H
#define APPPOOL_STORE_CLUSTER_RELAY_MASTER_H

#include "store/cluster/cluster.h"
#include "store/cluster/relay_packet.h"
#include "store/cluster/stream.h"

/** Where an attempt is. */
typedef enum {
    STORE_RELAY_NONE, /**< nothing has begun, or it has failed */
    STORE_RELAY_CONNECTING,
    STORE_RELAY_SECURING, /**< TLS */
    STORE_RELAY_NAMING,   /**< the master is told the space */
    STORE_RELAY_JOINED,
    STORE_RELAY_REFUSED /**< this master will not serve this client */
} store_relay_stage_t;

/** One attempt. Zero at the begin. */
typedef struct {
    store_relay_stage_t stage;
    int fd;                 /**< while `stream` is NULL */
    store_stream_t *stream; /**< NULL: not yet connected */
    int64_t began;          /**< ms */
    unsigned char packet[STORE_RELAY_PACKET];
    size_t n_packet, sent; /**< bytes of the packet */
    size_t got;            /**< bytes of the reply: of its head, or its body */
    size_t n_body;
    uint16_t status; /**< of the reply */
    int has_head;
    int is_plain;  /**< without TLS, although there is a secret */
    int is_yrmcds; /**< the master was one when the connection was made. Only
                        then no name comes first, and the connection is plain */
} store_relay_master_t;

/** @param epoll watches the connections */
void store_relay_master_begin(const store_cluster_t *, int epoll);

/** Is there any use in a try now? If not, ask again in 100 ms. */
int store_relay_master_is_due(int64_t now);

/**
 * Begin, or go on.
 * @param mark for the events of the connection
 * @return the stage
 */
store_relay_stage_t store_relay_master_turn(store_relay_master_t *,
                                            const store_space_t *, void *mark,
                                            int64_t now);

/** Close what was opened. NONE again. */
void store_relay_master_close(store_relay_master_t *);

/** Has a connection succeeded since the last call, after others had failed?
 * Then all that wait may try. */
int store_relay_master_is_back(void);

#endif
