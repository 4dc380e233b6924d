/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file control.h
 * @brief The control socket: apppoolctl asks, the spawner answers.
 *
 * A client sends one line ("status", "check"), gets one JSON document and
 * EOF; what went wrong is {"error": SENTENCE}. Nothing here blocks: a client
 * that does not send or read is dropped after some seconds.
 *
 * Trust: root may ask anything, httpd's user for the status; by SO_PEERCRED.
 */
#ifndef APPPOOL_CONTROL_H
#define APPPOOL_CONTROL_H

#include "spawner/state.h"

/** Bind and listen. @return 0, or -1 with errno */
int control_open(spawner_t *s);

/** Give the socket to httpd's user of the table. */
void control_configure(spawner_t *s);

/** Drop clients that are too slow. */
void control_tend(spawner_t *s);

#endif
