/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file last_lines.h
 * @brief The last lines that an app has printed, while it boots: at most 20, in
 *        2 KB. They say why a start has failed. The message of a stack trace
 *        stays longer than its frames.
 *
 * Errors: without memory, no line is kept.
 * Trust:  the app may print any bytes. They are kept as they are.
 */
#ifndef APPPOOL_SPAWNER_OUTPUT_LAST_LINES_H
#define APPPOOL_SPAWNER_OUTPUT_LAST_LINES_H

#include "spawner/process/state.h"

/** From now on, keep the last lines. */
void last_lines_keep(output_t *o);

/** A line without its newline, if lines are kept. */
void last_lines_add(output_t *o, const char *line, size_t length);

/** Is this line indented, like the lines of a stack trace below its message? */
int last_lines_is_frame(const char *line);

/** Forget the lines that are kept, and keep no more. */
void last_lines_forget(output_t *o);

#endif
