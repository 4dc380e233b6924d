/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file control.h
 * @brief The control socket: apppoolctl sends commands, the spawner responds.
 *
 * A client sends one line (command_list.h), and gets one JSON document and EOF.
 * Nothing here blocks. A client that does not send or read is dropped after
 * some seconds, or earlier if there are many. A response that takes long is
 * made by a helper job (status_job.h), once for all clients that have sent the
 * same command by then.
 *
 * control.sock is for root and httpd's user. Each user of apps has a socket.
 *
 * Errors: a socket that cannot be made is tried again each second.
 * Trust: SO_PEERCRED says which user the client is. The connection of a
 *        client that is neither root nor the user of the socket is closed,
 *        whatever the mode of the socket is.
 */
#ifndef APPPOOL_SPAWNER_CONTROL_CONTROL_H
#define APPPOOL_SPAWNER_CONTROL_CONTROL_H

#include "spawner/process/state.h"

/** A new spawner: make its sockets, and remove those of the last one. */
void control_begin(spawner_t *s);

/** Make the sockets that are missing: control.sock, which httpd's user gets, and
 * those of the users of apps. The app table names all of them. */
void control_configure(spawner_t *s);

/** Drop clients that are too slow, and begin the next response. Try again to
 * make the sockets that are missing. */
void control_tick(spawner_t *s);

#endif
