/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file piped_log.h
 * @brief A log that is the standard input of a command, by httpd's rules for
 *        piped logs: `AppLog "|rotatelogs ..."`.
 *
 * The command runs as the user that started httpd, without a shell unless it
 * begins with $. When it ends it is started again, at most once a second; what
 * it has not read is in the pipe, and is for the next one.
 *
 * Lock:   none; one command for a program (log_program.h).
 * Errors: a command that cannot be run is a warning of the error log, once a
 *         minute; what is written waits for it.
 * Crash:  of this program: the command reads the end of its input.
 * Trust:  the command is the administrator's; what it reads is the app's.
 */
#ifndef APPPOOL_SPAWNER_OUTPUT_PIPED_LOG_H
#define APPPOOL_SPAWNER_OUTPUT_PIPED_LOG_H

#include <stddef.h>

/** May the command have more? @param stuck 1: it has not read for a second;
 * 0: it reads, and has whole lines so far */
typedef int piped_log_may_t(int stuck);

/**
 * Write whole lines. Waits while the command does not read.
 * @param may asked after each 4 KB, and each second of a wait
 * @return bytes that were written: all, or until it said 0
 */
size_t piped_log_write(const char *command, const char *text, size_t length,
                       piped_log_may_t *may);

/** Start it again if it has ended. @return ms: to be called again then; -1:
 * with SIGCHLD */
int piped_log_tick(const char *command);

/**
 * End its input, and then the command: TERM after a second and a half, KILL a
 * fifth of a second later. Nothing happens if none runs.
 * @param reads 0: it does not read, so it is sent TERM at once
 */
void piped_log_end(int reads);

#endif
