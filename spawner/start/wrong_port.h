/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file wrong_port.h
 * @brief An app boots, does not accept our connection, and listens on a TCP
 *        port of its own choice: says so. Nobody connects to that port.
 *
 * It may listen at the right place later, as an app does that opens the port of
 * its metrics first. So the start does not fail because of it. The log says it
 * a second after the start began, and the error says it if the start fails.
 *
 * A helper job looks (job.h), a second after the start began. Each
 * further look comes when the start has taken three times as long.
 *
 * Errors: when no job can be started, that look is left out.
 * Crash:  the next spawner looks at once, and logs it again.
 * Trust:  only numbers of ports come from the app.
 */
#ifndef APPPOOL_SPAWNER_START_WRONG_PORT_H
#define APPPOOL_SPAWNER_START_WRONG_PORT_H

#include "spawner/start/own_ports.h"

/** Look if it is time. For a process that boots and does not accept. */
void wrong_port_look(spawner_t *s, process_t *p);

/** It accepts connections now. */
void wrong_port_forget(process_t *p);

/** Did the last looks find a port? */
int wrong_port_is_known(const process_t *p);

/** Write "LISTENS on TCP port 3000, where httpd does not connect (...), and did
 * not accept connections on descriptor 3". A port is known.
 * @param listens the first words */
void wrong_port_say(const process_t *p, const char *listens, char *text,
                    size_t size);

/** Write "port 80" or "ports 80, 81", as many as fit; "": there is none.
 * @param own a port that is left out; 0 */
void wrong_port_list(const own_ports_t *found, uint32_t own, char *text,
                     size_t size);

#endif
