/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file slave_link.h
 * @brief The bytes that go to a slave, and its heartbeats and echoes.
 *
 * Bytes are gathered, and written when there are many of them. The thread of
 * the slave may wait here for its socket; nobody else does.
 *
 * Lock:  one thread. `sent` may be read by any thread.
 * Errors: -1: the connection is over, and `why` says why.
 * Trust: a slave sends NUL bytes, and one of ours the marks that it has got.
 *        Other bytes, and a mark that it cannot have, end the connection.
 */
#ifndef APPPOOL_STORE_CLUSTER_SLAVE_LINK_H
#define APPPOOL_STORE_CLUSTER_SLAVE_LINK_H

#include "store/cluster/stream.h"
#include "store/cluster/wire.h"
#include "store/memory/changes.h"

typedef struct {
    store_stream_t *stream; /**< the caller's */
    char *bytes;
    size_t n;
    uint64_t sent;  /**< bytes that were written; atomic */
    int64_t alive;  /**< ms: the last heartbeat, or progress of the socket */
    unsigned heard; /**< how often the slave has said something */
    store_cursor_t *cursor; /**< the slave's place in the list of changes. It
                               is looked at while the slave takes nothing;
                               NULL: none */
    int overtaken;          /**< the slave is too slow; atomic */
    uint64_t marked;        /**< the position of the last mark that was put */
    uint64_t echoed; /**< that of the last mark that the slave has echoed */
    void (*confirmed)(unsigned slot,
                      uint64_t position); /**< it has echoed a mark; NULL: it is
                                             a yrmcds, and echoes nothing */
    unsigned slot;                        /**< for `confirmed` */
    int has_echoed;                       /**< a mark */
    uint32_t echoed_at; /**< ms: the clock of that echo, which is
                                             the slave's */
    int has_said_bye;   /**< it stops in order */
    unsigned char answer[STORE_WIRE_MARK_SIZE]; /**< a part of a packet */
    size_t n_answer;
    int queued;       /**< bytes that the slave's kernel had not acknowledged */
    unsigned timeout; /**< s */
    const char *why;  /**< it is over; NULL: it is not */
    char why_text[96];
} store_slave_link_t;

/** @param timeout s without a heartbeat and without progress of the socket
 *  @return 0, or -1: no memory */
int store_slave_link_open(store_slave_link_t *, store_stream_t *,
                          unsigned timeout);

/** Add bytes. Writes, and waits, when there are many. */
int store_slave_link_put(store_slave_link_t *, const void *, size_t n);

/** The list has overtaken the slave: that ends the connection. @return -1 */
int store_slave_link_overtaken(store_slave_link_t *);

/** Write all. */
int store_slave_link_flush(store_slave_link_t *);

/** Read what has come of the slave, without waiting. */
int store_slave_link_hear(store_slave_link_t *);

/** Wait for the bell, at most some ms. Heartbeats are read meanwhile. */
int store_slave_link_wait(store_slave_link_t *, int bell, int ms);

void store_slave_link_close(store_slave_link_t *);

#endif
