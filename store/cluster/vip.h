/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file vip.h
 * @brief The virtual address: is it here, when does that change, and sockets
 *        that are bound to it.
 *
 * Lock:  none.
 * Errors: -1 and errno.
 */
#ifndef APPPOOL_STORE_CLUSTER_VIP_H
#define APPPOOL_STORE_CLUSTER_VIP_H

#include "store/cluster/cluster.h"

/** A netlink socket, which is readable when an address of this host has come
 * or gone. */
int store_vip_open(void);

/** Read all reports. What they say is not used: look. */
void store_vip_read(int netlink);

/** Has an interface of this host the address? @return 1, 0; -1: not known */
int store_vip_is_here(const store_address_t *);

/** Listen at the address, also while it is not here. @return the socket */
int store_vip_listen(const store_address_t *, uint16_t port);

#endif
