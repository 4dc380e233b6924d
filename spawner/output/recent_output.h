/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file recent_output.h
 * @brief What each app printed last, for apppoolctl logs: 16 KB of it, wherever
 *        its lines go.
 *
 * So a user sees the lines of the apps that run as that user and no others,
 * also where all go to an error log that only root may read; and nobody reads a
 * file with root's rights for that. With the first line of another user's
 * process the older ones are forgotten.
 *
 * Errors: where there is no memory, lines are missing.
 * Crash:  the next spawner begins anew, and with other numbers.
 * Trust:  the lines are the app's; they have no control characters.
 */
#ifndef APPPOOL_SPAWNER_OUTPUT_RECENT_OUTPUT_H
#define APPPOOL_SPAWNER_OUTPUT_RECENT_OUTPUT_H

#include <jansson.h>

#include "spawner/state/state.h"

/** A process has printed a line, which log_escape() has made; without its end.
 */
void recent_output_add(const process_t *p, const char *line, size_t length);

/**
 * Those lines of an app that are kept, from the one with this number on.
 * @param only none but those that processes of this user printed;
 * USERDB_NOBODY: all
 * @return {"first": number of the first one, "next": of the one that comes,
 *         "lines": [...]}
 */
json_t *recent_output_lines(const char *app, uint64_t from, uid_t only);

/** Forget the apps that are not in the table. */
void recent_output_sweep(const spawner_t *s);

#endif
