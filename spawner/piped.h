/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file piped.h
 * @brief A log that is the standard input of a command, by httpd's rules for
 *        piped logs: `AppLog "|rotatelogs ..."`.
 *
 * The command runs as the user that started httpd, without a shell unless it
 * begins with $. When it ends it is started again, at most once a second; what
 * it has not read is in the pipe, and is for the next one.
 *
 * Lock:   none; one command for a program (applog.h).
 * Errors: a command that cannot be run is a warning of the error log, once a
 *         minute; what is written waits for it.
 * Crash:  of this program: the command reads the end of its input.
 * Trust:  the command is the administrator's; what it reads is the app's.
 */
#ifndef APPPOOL_PIPED_H
#define APPPOOL_PIPED_H

#include <stddef.h>

/**
 * Write all of it. Waits while the command does not read.
 * @param may_wait asked each second of that wait
 * @return 0: it said 0, and the rest of the text is lost
 */
int piped_write(const char *command, const char *text, size_t length,
                int (*may_wait)(void));

/** Start it again if it has ended. @return ms: to be called again then; -1: with
 * SIGCHLD */
int piped_tend(const char *command);

/**
 * End its input, and then the command: TERM after a second and a half, KILL a
 * fifth of a second later. Nothing happens if none runs.
 * @param reads 0: it does not read, so it is sent TERM at once
 */
void piped_end(int reads);

#endif
