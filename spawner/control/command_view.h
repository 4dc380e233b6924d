/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file command_view.h
 * @brief Verbs of apppoolctl that only look at the pool. Their answers are made
 *        by a child (status_job.h).
 *
 * Errors: {"error": SENTENCE}.
 * Lock:   a copy of the pool is taken under its lock (snapshot.h).
 * Trust:  a user who is neither root nor httpd's gets the apps that run as that
 *         user, and nothing of the pool around them.
 */
#ifndef APPPOOL_SPAWNER_CONTROL_COMMAND_VIEW_H
#define APPPOOL_SPAWNER_CONTROL_COMMAND_VIEW_H

#include "spawner/control/command.h"

/** Of all apps, or of the one that is named. @return NULL: a child is to make
 * the answer */
json_t *command_view_status(command_t *q);

/** Do the invariants hold? @return NULL */
json_t *command_view_check(command_t *q);

/** What is the process doing? */
json_t *command_view_report(command_t *q);

#endif
