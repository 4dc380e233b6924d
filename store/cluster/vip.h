/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file vip.h
 * @brief The virtual address: is it here, when does that change, and sockets
 *        that are bound to it.
 *
 * Errors: -1 and errno.
 * Trust: the kernel sends the reports. A report alone decides nothing.
 */
#ifndef APPPOOL_STORE_CLUSTER_VIP_H
#define APPPOOL_STORE_CLUSTER_VIP_H

#include "store/cluster/cluster.h"

/** A netlink socket, which is readable when an address of this host has come
 * or gone. */
int store_vip_open(void);

/** Read all reports.
 * @return 1: the last one about the address says that it has gone */
int store_vip_read(int netlink, const store_address_t *);

/** Has an interface of this host the address? The kernel gives the list in
 * parts: while addresses come and go, one that is here may not be in it.
 * @return 1, 0; -1: not known */
int store_vip_is_here(const store_address_t *);

/** Listen at the address, also while it is not here. @return the socket */
int store_vip_listen(const store_address_t *, uint16_t port);

#endif
