/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file output.h
 * @brief Copies what apps write to stdout and stderr into their AppLog or
 *        httpd's error log, line by line. While an app boots, the last lines
 *        are kept (last_lines.h).
 *
 *     [time] shop[4711]> text
 *
 * The output is a FIFO that the process itself has open for reading and writing.
 * So it never gets SIGPIPE, and the next spawner reads on.
 *
 * Each process has a token bucket. When it is empty, lines are dropped, and the
 * FIFO of the process is not read for a moment. The log says how many lines
 * were dropped, at the latest when nothing of the process is left.
 *
 * Errors: output that cannot be written is lost. Nothing waits for a log.
 * Crash:  lines that were not written yet are lost.
 * Trust:  the app may print any bytes. Control characters are escaped. A line
 *         is cut off after 8 KB, or after 64 KB if lines are raw, and its end
 *         says so.
 */
#ifndef APPPOOL_SPAWNER_OUTPUT_OUTPUT_H
#define APPPOOL_SPAWNER_OUTPUT_OUTPUT_H

#include "spawner/process/state.h"

/** Free all memory. */
void output_forget(output_t *output);

/**
 * Read the FIFO and write the lines to the log.
 * @return 0: no process has the FIFO open any more
 */
int output_read(process_t *p);

/**
 * Lines that the process has printed in another way, each with its newline. If
 * one is too much, so are those after it.
 * @param logged 1: they are in a log, so they are only kept
 */
void output_add(process_t *p, const char *text, size_t length, int logged);

/** Read what is left. A last line that has no newline is written as well. */
void output_finish(process_t *p);

/** Nothing prints any more: the same, and log what was dropped. */
void output_end(spawner_t *s, process_t *p);

/** From now on, the output takes this route (log_program.h); NULL: to the error
 * log.
 * @param raw 1: lines are written as the app prints them */
void output_to(process_t *p, const char *route, int raw, const char *format);

/** Do what is due: read again after a pause, log what was dropped. */
void output_tick(spawner_t *s, process_t *p);

#endif
