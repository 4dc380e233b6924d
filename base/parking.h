/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file parking.h
 * @brief Parking sockets: where a connection stays while no child of httpd uses
 *        it.
 *
 * A parking socket is a datagram socket that is connected to itself. A child
 * parks a connection: it sends a duplicate of the connection's descriptor to
 * the parking socket (SCM_RIGHTS). Another child takes a copy of what is parked
 * (MSG_PEEK), and keeps the copy. shutdown() on any copy ends the connection
 * for all of them.
 *
 * All parking sockets of an instance are parked themselves, in the parking lot:
 * one socket that holds one message with all of them. httpd's parent makes the
 * lot and keeps it as long as the segment. Each child of httpd and the spawner
 * take copies from the lot. So children of two generations of httpd have the
 * same parking sockets, and the parent keeps one descriptor only.
 *
 * Errors: -1 with errno.
 * Lock:   a parking socket is used by the child that has the process
 *         (shm/slots/connection_state.h).
 * Crash:  what is parked stays parked when a child dies.
 * Trust:  a child of httpd may park anything. A process that takes a copy has
 *         to check what it is, and may have to wait in close(). So root takes
 *         copies only in a helper job. Whatever options a child has set on a
 *         parking socket, no call waits for a message, and no call leaves a
 *         descriptor open that it does not return. Options that disturb are set
 *         back. A child that shuts a parking socket down ends the sharing of
 *         that process's connections until httpd is stopped.
 */
#ifndef APPPOOL_BASE_PARKING_H
#define APPPOOL_BASE_PARKING_H

/** The kernel takes no more descriptors in a message. */
#define PARKING_MAX 253

/** Make a lot of n parking sockets. @return the lot */
int parking_make(int n);

/** Copies of all parking sockets. @return how many */
int parking_open(int lot, int sockets[PARKING_MAX]);

/** Park a connection. What was parked there is cut. @return 0 */
int parking_put(int socket, int connection);

/** A copy of what is parked: a descriptor. */
int parking_copy(int socket);

/** Set the options back that a child of httpd may have set. The others do it
 * themselves where they see that something is wrong. */
void parking_restore(int socket);

/** End the connections that are parked, also for processes that have a copy. A
 * process that may open no more files leaves them there for another process.
 * @return 0: nothing is parked any more; -1: something may be */
int parking_cut(int socket);

#endif
