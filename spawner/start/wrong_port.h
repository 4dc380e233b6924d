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
 * further look comes when the start has taken three times as long. The kernel
 * says which sockets listen (sock_diag.h), and the links in /proc/PID/fd say
 * which process has them. Nothing else of a process is read, and no link is
 * followed.
 *
 * Errors: when no job can be started, that look is left out. What cannot be
 *         read, and what exceeds a maximum, is not found.
 * Crash:  the next spawner looks at once, and logs it again.
 * Trust:  only numbers of ports come from the app. It may have any number of
 *         descriptors, so the number that is read has a limit. A socket that
 *         another process has as well is still the app's.
 */
#ifndef APPPOOL_SPAWNER_START_WRONG_PORT_H
#define APPPOOL_SPAWNER_START_WRONG_PORT_H

#include "spawner/process/state.h"

#define WRONG_PORT_MAX 8 /**< ports that are named */

/** "port 80", "ports 80, 81"; "": there is none. */
typedef char wrong_port_text_t[WRONG_PORT_MAX * sizeof "65535, "];

/** Find the ports that the processes of the app listen on, without its own one.
 * For the job, and for tests. */
void wrong_port_find(const process_t *p, wrong_port_text_t text);

/** Look if it is time. For a process that boots and does not accept. */
void wrong_port_look(spawner_t *s, process_t *p);

/** It accepts connections now, or ends. */
void wrong_port_forget(process_t *p);

/** Did the last looks find a port? */
int wrong_port_is_known(const process_t *p);

/** Write "LISTENS on TCP port 3000, where httpd does not connect (...), and did
 * not accept connections on descriptor 3". A port is known.
 * @param listens the first words */
void wrong_port_say(const process_t *p, const char *listens, char *text,
                    size_t size);

#endif
