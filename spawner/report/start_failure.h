/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file start_failure.h
 * @brief Why an app did not start: a text for the log and for the segment, and
 *        a file from which httpd's children make the error page.
 *
 * The file is e/KEY, one for each app. It is removed when a start of the app is
 * a success (phase.c), or when the app leaves the configuration. While a start
 * lasts long, there is also e/KEY.slow (life.c). The lines are
 * "NAME VALUE": id, step, failure, command, directory, user. Then comes
 * "output", and all lines after that are output of the app.
 *
 * Errors: if the file cannot be written, there is none, and the page says less.
 * Crash:  the file is complete or does not exist.
 * Trust:  the file is root's, and httpd's group may read it. The output comes
 *         from the app, and commands may contain secrets. The environment is
 *         left out.
 */
#ifndef APPPOOL_SPAWNER_REPORT_START_FAILURE_H
#define APPPOOL_SPAWNER_REPORT_START_FAILURE_H

#include "spawner/process/state.h"

/** Write the line for the log. */
void start_failure_log(const spawner_t *s, const process_t *p);

/** What failed, and the last line of output, on one line. */
void start_failure_brief(const process_t *p, char *text, size_t size);

/** Any other sentence, and the last line of output, on one line. */
void start_failure_describe(const process_t *p, const char *what, char *text,
                            size_t size);

/**
 * Write the file, and notify of the failure (AppNotify).
 * @param id   of the error, as in the log and in the segment
 * @param text a sentence: what failed
 */
void start_failure_keep(spawner_t *s, const process_t *p, int step, uint64_t id,
                        const char *text);

/** The start of this process lasts long, and this is missing: write the file
 * e/KEY.slow. Its id is that of the process. */
void start_failure_keep_slow(const spawner_t *s, const process_t *p,
                             const char *missing);

/** That start is over: remove the file. */
void start_failure_forget_slow(const spawner_t *s, const process_t *p);

/** The start of this process is a success. If starts of its app failed until
 * now, remove the file and notify of the success (AppNotify). */
void start_failure_forget(spawner_t *s, const process_t *p);

/** A new spawner: read from the files which apps could not be started. */
void start_failure_recall(const spawner_t *s);

/** Remove files that belong to no configured app. */
void start_failure_sweep(const spawner_t *s);

#endif
