/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file log_writer.h
 * @brief The spawner's side of an AppLog: a child (log_program.h) for each
 *        route. A route to a file has one child for each user. The spawner
 *        sends lines to the child and never waits for it.
 *
 * The child starts with the first line. It ends when no process of an app has
 * needed it for five seconds, when httpd stops, or when the spawner is dead. It
 * writes all lines that it has got until then.
 *
 * Errors: lines that the child does not take in time are dropped, and the error
 *         log says how many, at the latest when the spawner ends. What a child
 *         that was killed has not read waits for the next child. What it was
 *         writing is lost.
 * Crash:  the child writes the lines that it was sent, and ends. The next
 *         spawner starts a child of its own.
 */
#ifndef APPPOOL_SPAWNER_OUTPUT_LOG_WRITER_H
#define APPPOOL_SPAWNER_OUTPUT_LOG_WRITER_H

#include "spawner/process/state.h"

typedef struct writer log_writer_t;

/** Can lines be sent now? A file is opened as the app's user, so that user must
 * be known.
 * @param uid of the app; USERDB_NOBODY: not known yet */
int log_writer_can_send(const char *route, uid_t uid);

/**
 * The writer of this route (log_program.h), for one more user of it.
 * @param raw 1: lines are as the app printed them
 * @param uid, gid of the app, for a file
 * @return NULL: no memory
 */
log_writer_t *log_writer_get(const char *route, int raw, uid_t uid, gid_t gid);

/** The opposite of log_writer_get(). NULL: nothing happens. */
void log_writer_put(log_writer_t *w);

/** Send `n` whole lines: at most LOG_PROGRAM_MAX bytes. */
void log_writer_send(log_writer_t *w, const char *lines, size_t length,
                     unsigned n);

/** A child that is dead and not reaped yet: it may be one of these. */
void log_writer_reap(pid_t pid);

/** httpd was reloaded: end the commands. The next line starts them again. */
void log_writer_reload(void);

/** Log what was dropped, and end the children that are not needed. */
void log_writer_tick(spawner_t *s);

/** The spawner ends: the children have two seconds to write what they were
 * sent. */
void log_writer_stop(void);

#endif
