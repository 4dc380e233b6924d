/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file start_failure.h
 * @brief Why an app did not start: in words for the log, for the segment, and
 *        in a file that httpd's children make the error page of.
 *
 * The file is e/KEY, one for each app, and is removed when a process of it
 * stays (phase.h), or when it leaves the configuration. Its lines are
 * "NAME VALUE": id, step, failure, command, directory, user; then "output", and
 * all lines after that are the app's.
 *
 * Errors: a file that cannot be written is missing; the page says less then.
 * Crash:  a file is there as a whole or not.
 * Trust:  root's, for httpd's group to read. Output is the app's, and commands
 *         may hold secrets; the environment is left out.
 */
#ifndef APPPOOL_SPAWNER_ALERT_START_FAILURE_H
#define APPPOOL_SPAWNER_ALERT_START_FAILURE_H

#include "spawner/child/start_step.h"
#include "spawner/state/state.h"

/** Write the line for the log. */
void start_failure_log(const spawner_t *s, const process_t *p);

/** What failed, and the last line of output, on one line. */
void start_failure_brief(const process_t *p, char *text, size_t size);

/**
 * Write the file, and tell of the failure (AppNotify).
 * @param id   of the error; stands in the log and in the segment
 * @param text what failed, in a sentence
 */
void start_failure_keep(spawner_t *s, const process_t *p, int step, uint64_t id,
                        const char *text);

/** It stays: if its app could not be started until now, remove the file and
 * tell that (AppNotify). */
void start_failure_forget(spawner_t *s, const process_t *p);

/** A new spawner: which apps could not be started under the last one? */
void start_failure_recall(const spawner_t *s);

/** Remove what is no file of a configured app. */
void start_failure_sweep(const spawner_t *s);

#endif
