/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file output.h
 * @brief What apps write to stdout and stderr: line by line into AppLog or
 *        httpd's error log; the last lines are kept while an app boots.
 *
 *     [time] shop[4711]> text
 *
 * Each process has a bucket: what it prints beyond that is dropped, and how
 * many lines those were is logged. Its FIFO then is not read for a moment.
 *
 * Errors: an output that cannot be written is lost; nothing waits for a log.
 * Trust:  bytes of the app's; control characters are escaped. A line is cut
 *         beyond 8 KB, or 64 KB where lines are raw, and says so at its end.
 */
#ifndef APPPOOL_SPAWNER_OUTPUT_OUTPUT_H
#define APPPOOL_SPAWNER_OUTPUT_OUTPUT_H

#include "spawner/state/state.h"

/** Keep the last lines from now on. */
void output_keep(output_t *output);

/** Is this line indented, as those of a stack trace are below its message? */
int output_is_frame(const char *line);

/** They are of no use any more. */
void output_forget_tail(output_t *output);

/** Free all that is kept. */
void output_forget(output_t *output);

/**
 * Read what is there and write it to the log.
 * @return 0: nobody has the FIFO open any more
 */
int output_drain(process_t *p);

/** A last line without end, too. */
void output_finish(process_t *p);

/** It takes this route (log_program.h) from now on; NULL: to the error log.
 * @param raw 1: lines are written as the app prints them */
void output_to(process_t *p, const char *route, int raw);

/** Do what is due: read on, say what was dropped. */
void output_tick(spawner_t *s, process_t *p);

#endif
