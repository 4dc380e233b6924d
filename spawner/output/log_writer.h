/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file log_writer.h
 * @brief The spawner's side of an AppLog: a child (log_program.h) for each
 *        route, which is sent lines and waited for by nobody; files have one
 *        for each user.
 *
 * It is started with the first line. It ends when no process of an app has
 * needed it for five seconds, when httpd stops, or when the spawner is dead. It
 * writes what it was sent until then.
 *
 * Errors: lines that the child does not take in time are dropped. How many
 *         those were is a line of the error log. While a child ends, one
 *         message of lines is held for the next child.
 * Crash:  the child writes what it was sent, and ends. The next spawner has a
 *         child of its own.
 */
#ifndef APPPOOL_SPAWNER_OUTPUT_LOG_WRITER_H
#define APPPOOL_SPAWNER_OUTPUT_LOG_WRITER_H

#include "spawner/state/state.h"

typedef struct writer log_writer_t;

/** Is it known who writes there? A file is opened as the app's user.
 * @param uid of the app; USERDB_NOBODY: not known yet */
int log_writer_can_send(const char *route, uid_t uid);

/**
 * That of this route (log_program.h), for one that uses it.
 * @param raw 1: lines are as the app printed them
 * @param uid, gid of the app, for a file
 * @return NULL: no memory
 */
log_writer_t *log_writer_get(const char *route, int raw, uid_t uid, gid_t gid);

/** One uses it no more. Harmless for NULL. */
void log_writer_put(log_writer_t *w);

/** Send `n` whole lines: at most LOG_PROGRAM_MAX bytes. */
void log_writer_send(log_writer_t *w, const char *lines, size_t length,
                     unsigned n);

/** A child that is dead and not reaped yet: it may be one of these. */
void log_writer_reap(pid_t pid);

/** httpd was reloaded: commands are ended, and started anew with the next line.
 */
void log_writer_reload(void);

/** Say what was dropped, and end the children that nobody needs. */
void log_writer_tick(spawner_t *s);

/** The spawner ends: let them write what they were sent, for two seconds. */
void log_writer_stop(void);

#endif
