/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file recent_output.h
 * @brief The last 16 KB that each app printed, for apppoolctl logs. It does not
 *        matter to which log the lines go.
 *
 * So a user sees the lines of the apps that run as that user, and no others.
 * This works even if the lines go to an error log that only root may read, and
 * no file is read with root's rights for it. When a process of another user
 * prints its first line, the older lines are forgotten.
 *
 * Errors: if there is no memory, lines are missing.
 * Crash:  the next spawner begins again, with other numbers.
 * Trust:  the lines come from the app. They have no control characters.
 */
#ifndef APPPOOL_SPAWNER_OUTPUT_RECENT_OUTPUT_H
#define APPPOOL_SPAWNER_OUTPUT_RECENT_OUTPUT_H

#include <jansson.h>

#include "spawner/process/state.h"

/** A process has printed this line: the result of log_format_escape(), without a
 * newline. */
void recent_output_add(const process_t *p, const char *line, size_t length);

/**
 * The lines of an app that are kept, beginning with the number `from`.
 * @param only lines of processes of this user; USERDB_NOBODY: all lines
 * @return {"first": number of the first one, "next": number of the next line
 *         that will come, "lines": [...]}
 */
json_t *recent_output_lines(const char *app, uint64_t from, uid_t only);

/** Forget the apps that are not in the table. */
void recent_output_sweep(const spawner_t *s);

#endif
