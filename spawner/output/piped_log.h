/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file piped_log.h
 * @brief A log that is the standard input of a command, by httpd's rules for
 *        piped logs: `AppLog "|rotatelogs ..."`.
 *
 * The command runs as the user that started httpd. It has no shell unless it
 * begins with $. When it ends, it is started again, at most once a second. What
 * it has not read stays in the pipe for the next one.
 *
 * Lock:   none; a program (log_program.h) has one command.
 * Errors: if the command cannot be run, the error log gets a warning, once a
 *         minute. What is to be written waits for the command.
 * Crash:  if this program dies, the command reads the end of its input.
 * Trust:  the command is the administrator's. Its input comes from the app.
 */
#ifndef APPPOOL_SPAWNER_OUTPUT_PIPED_LOG_H
#define APPPOOL_SPAWNER_OUTPUT_PIPED_LOG_H

#include <stddef.h>

/** May more be written to the command? @param stuck 1: it has not read for a
 * second; 0: it reads, and what it got so far ends with a newline */
typedef int piped_log_may_t(int stuck);

/**
 * Write whole lines. Waits while the command does not read.
 * @param may called after each 4 KB, and in each second of a wait
 * @return bytes that were written: all, or those before `may` returned 0
 */
size_t piped_log_write(const char *command, const char *text, size_t length,
                       piped_log_may_t *may);

/** Start the command again if it has ended. @return ms: call this again then;
 * -1: at the next SIGCHLD */
int piped_log_tick(const char *command);

/**
 * End the input of the command, and then the command: TERM after a second and a
 * half, KILL a fifth of a second later. The error log says what it has not read.
 * Nothing happens if nothing was written yet.
 * @param reads 0: the command does not read, so send TERM at once
 */
void piped_log_end(const char *command, int reads);

#endif
