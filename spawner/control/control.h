/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file control.h
 * @brief The control socket: apppoolctl asks, the spawner answers.
 *
 * A client sends one line (command_list.h), gets one JSON document and EOF.
 * Nothing here blocks: a client that does not send or read is dropped after
 * some seconds, or when there are many. An answer that takes its time is made
 * by a child (status_job.h), once for all clients that have asked for it by
 * then.
 *
 * control.sock is for root and httpd's user. A user of apps has a socket of
 * his own (user_sockets.h).
 *
 * Trust: who asks, SO_PEERCRED says. Whoever is neither root nor the user that
 *        the socket is for is not heard, whatever the mode of the socket is.
 */
#ifndef APPPOOL_SPAWNER_CONTROL_CONTROL_H
#define APPPOOL_SPAWNER_CONTROL_CONTROL_H

#include "spawner/state/state.h"

/** Bind and listen. @return 0, or -1 with errno */
int control_open(spawner_t *s);

/** Give the socket to httpd's user of the table; have those of its apps' users.
 */
void control_configure(spawner_t *s);

/** Drop clients that are too slow, and have the next answer made. */
void control_tick(spawner_t *s);

#endif
