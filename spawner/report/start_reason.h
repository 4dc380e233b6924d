/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file start_reason.h
 * @brief Reads what an app has printed while it started, and says in one line
 *        why it ended: the exception of Python, Ruby, node, Go, PHP or Java,
 *        the command that the shell did not find, the port that is in use.
 *
 * Programs print the reason anywhere: Ruby and node before the stack trace,
 * Python behind it, and servers print more lines after that. So each line is
 * looked at, and the last one with a reason wins. Ruby prints the causes of an
 * exception behind it, and in Rust a thread that waits for one that has
 * panicked panics as well, so their first one wins.
 *
 * Trust: the output may be any bytes. Sequences for terminals are left out, and
 *        a control character becomes a blank; other bytes stay as they are.
 */
#ifndef APPPOOL_SPAWNER_REPORT_START_REASON_H
#define APPPOOL_SPAWNER_REPORT_START_REASON_H

#include <stddef.h>

#define START_REASON_MAX 800 /**< bytes of a reason, with NUL */

/** @param output   lines, each one with its newline
 *  @param no_command 1: the shell has ended with 126 or 127, so it could not
 *                  execute a command, and its line has precedence
 *  @return 1; 0: no line has a reason, and `reason` is "" */
int start_reason_find(const char *output, size_t length, int no_command,
                      char reason[START_REASON_MAX]);

/** The port of a reason that says that an address is in use.
 * @return 0: it says something else, or names no port */
unsigned start_reason_port(const char *reason);

/** Copy a text to where it may not fit. It ends at a word then, with "...". */
void start_reason_fit(char *to, size_t size, const char *text);

#endif
