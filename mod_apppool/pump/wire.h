/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file wire.h
 * @brief The socket of a client, below all filters, while the pump has the
 *        connection. It never waits.
 *
 * httpd's own filter for the network would wait for a client that reads slowly,
 * and forget one that does not read at once. So two filters stand in front of
 * it: above are TLS and all others, below is the socket. What the client has
 * not taken yet is kept (pending.h).
 *
 * The socket has another descriptor while it is plugged in. The caller may use
 * the old one for something else.
 *
 * Thread: one at a time. The filters of all wires share the memory that a read
 *         fills. So what was read is used before another wire is read: within a
 *         step of the pump (pump.h).
 * Trust:  the bytes are the client's.
 */
#ifndef MOD_APPPOOL_PUMP_WIRE_H
#define MOD_APPPOOL_PUMP_WIRE_H

#include <httpd.h>
#include <util_filter.h>

#include "mod_apppool/pump/pending.h"

typedef struct {
    conn_rec *c;
    int fd; /**< of the client; the wire closes it */
    void *owner;
    apppool_pending_t early;   /**< httpd has read it from the socket before */
    apppool_pending_t pending; /**< the client has not taken it */
    int found; /**< the last read: 1: something; -1: nothing. Set it to 0 */
    ap_filter_t *in, *out;
} apppool_wire_t;

/** Call it once, before the hooks of any configuration run. */
void apppool_wire_register(void);

/** The owner of the wire of this connection. @return NULL: it has none */
void *apppool_wire_owner(const conn_rec *c);

/** Plug it in. All that httpd has written to the connection was flushed.
 * @param fd a copy of the client's descriptor */
void apppool_wire_plug(apppool_wire_t *wire, request_rec *r, int fd,
                       void *owner);

/** Send what there is. @return 1: all of it; 0: something is left; -1: the
 * client is gone */
int apppool_wire_flush(apppool_wire_t *wire);

/** Unplug it. httpd's own filter gets the rest, and may wait. */
void apppool_wire_unplug(apppool_wire_t *wire);

/** The connection ends with its memory: no byte is written. */
void apppool_wire_cut(apppool_wire_t *wire);

#endif
