/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file port_owner.h
 * @brief Which process listens on a TCP port that an app could not have.
 *
 * Errors: what is not found is not said.
 * Trust:  a process is named only if it belongs to the app's user: the text is
 *         shown to that user. A process may have any name.
 */
#ifndef APPPOOL_SPAWNER_REPORT_PORT_OWNER_H
#define APPPOOL_SPAWNER_REPORT_PORT_OWNER_H

#include <stddef.h>
#include <sys/types.h>

/** Write "port 3000 is used by node, pid 4711", or "... by another user's
 * process"; "": nobody listens there. @param user of the app */
void port_owner_say(unsigned port, uid_t user, char *text, size_t size);

#endif
