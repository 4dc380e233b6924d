/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file tcp_listener.h
 * @brief A TCP socket at which clients or other hosts connect.
 *
 * Lock:  none; the main thread.
 * Errors: -1 and errno.
 * Trust: whoever reaches the address may connect.
 */
#ifndef APPPOOL_STORE_SERVER_TCP_LISTENER_H
#define APPPOOL_STORE_SERVER_TCP_LISTENER_H

#include "store/cluster/cluster.h"

/** Listen at an address of this host. */
int store_tcp_listener_make(const store_address_t *, uint16_t port);

/** Is this a listener at that address and port? */
int store_tcp_listener_is(int fd, const store_address_t *, uint16_t port);

/**
 * Accept one connection. Does not wait. Small replies are sent at once.
 * @param peer gets the address of the other end
 * @return -1: EAGAIN: there is none
 */
int store_tcp_listener_accept(int fd, store_address_t *peer);

#endif
