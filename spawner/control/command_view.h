/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file command_view.h
 * @brief Commands of apppoolctl that only read the pool. A helper job makes
 *        their responses (status_job.h).
 *
 * Errors: {"error": SENTENCE}.
 * Lock:   a copy of the pool is taken under its lock (snapshot.h).
 * Trust:  a user who is neither root nor httpd's user sees the apps that run as
 *         that user, and nothing else of the pool.
 */
#ifndef APPPOOL_SPAWNER_CONTROL_COMMAND_VIEW_H
#define APPPOOL_SPAWNER_CONTROL_COMMAND_VIEW_H

#include "spawner/control/command.h"

/** The status of all apps, or of the app that is named. @return NULL: a helper
 * job makes the response */
json_t *command_view_status(command_t *q);

/** Do the invariants hold? @return NULL */
json_t *command_view_check(command_t *q);

/** What is the process doing? */
json_t *command_view_report(command_t *q);

#endif
