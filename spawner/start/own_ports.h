/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file own_ports.h
 * @brief Finds the TCP ports that the processes of an app listen on.
 *
 * The kernel says which sockets listen (sock_diag.h), and the links in
 * /proc/PID/fd say which process has them. Nothing else of a process is read,
 * and no link is followed.
 *
 * Errors: what cannot be read, and what exceeds the maximum, is not found.
 * Trust:  the processes may have any number of descriptors, so the number that
 *         is read has a limit. A socket that another process has as well is
 *         still the app's.
 */
#ifndef APPPOOL_SPAWNER_START_OWN_PORTS_H
#define APPPOOL_SPAWNER_START_OWN_PORTS_H

#include "spawner/process/state.h"

#define OWN_PORTS_MAX 8

typedef struct {
    uint32_t n;
    uint16_t port[OWN_PORTS_MAX]; /**< each one once */
} own_ports_t;

/** Find the ports. Only a helper job calls this, because it takes long. */
void own_ports_find(const process_t *p, own_ports_t *found);

/** @param link what a link in /proc/PID/fd says, such as "socket:[4711]"
 * @return the number of the socket; 0: it is something else */
uint32_t own_ports_socket(const char *link);

/** Add a port, unless it is there or there is no room. */
void own_ports_add(own_ports_t *found, uint32_t port);

#endif
