/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file relay_client.h
 * @brief One local client of the relay, from the accept to its end.
 *
 *     held ---> joined: bytes pass ---> over
 *       ^          |
 *       +----------+ the master has gone, and the client had sent nothing
 *
 * A client is held while it has no master. Its bytes stay in its socket, so it
 * can still be served here.
 *
 * Lock:  none; the thread of the relay, and after its end the main thread.
 */
#ifndef APPPOOL_STORE_CLUSTER_RELAY_CLIENT_H
#define APPPOOL_STORE_CLUSTER_RELAY_CLIENT_H

#include "store/cluster/relay_master.h"
#include "store/cluster/relay_pipe.h"
#include "store/event_thread.h"

/** How long a client is held. */
#define STORE_RELAY_HOLD INT64_C(5000) /* ms */

struct store_relay_client;

/** The mark of an event: which end of which client. */
typedef struct {
    struct store_relay_client *client;
    store_relay_end_t end;
    int ends; /**< an event has told of the end of this end's bytes */
} store_relay_side_t;

typedef struct store_relay_client {
    store_member_t member; /**< of the relay's thread */
    int must_end;          /**< it may not use its space any more */
    store_space_t *space;
    store_relay_side_t local, remote;
    store_relay_master_t master;
    store_relay_pipe_t up, down; /**< to the master, from the master */
    int told;      /**< the master: no more comes from the client */
    int64_t until; /**< ms: when it is closed; 0: it may stay */
} store_relay_client_t;

typedef enum {
    STORE_RELAY_IDLE, /**< an event or the clock goes on */
    STORE_RELAY_MORE, /**< call again after the others */
    STORE_RELAY_OVER  /**< free it */
} store_relay_turn_t;

/** Take a client. @return NULL: no memory; the stream is closed */
store_relay_client_t *store_relay_client_make(store_space_t *, store_stream_t *,
                                              int64_t now);

/** Watch its socket. @return 0, or -1: errno */
int store_relay_client_watch(store_relay_client_t *, int epoll);

/** Its side has had these events of epoll. */
void store_relay_client_event(store_relay_side_t *, uint32_t events);

/** Do what can be done now. @param buffer as store_relay_pipe_turn() */
store_relay_turn_t store_relay_client_turn(store_relay_client_t *, char *buffer,
                                           int64_t now);

/** Has it sent nothing to a master? Then this host may serve it. */
int store_relay_client_is_new(const store_relay_client_t *);

void store_relay_client_free(store_relay_client_t *);

#endif
