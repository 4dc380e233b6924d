/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file lost_lines.h
 * @brief Lines that the program of a log (log_program.h) has, and cannot write.
 *        The error log says how many, and why the last of them.
 *
 *     AppLog /var/log/shop.log: 12 lines dropped: No space left on device
 *
 * The first such line comes after a second, the others ten seconds apart.
 *
 * Errors: none.
 * Crash:  what was not logged yet is not logged.
 * Trust:  the lines come from the app. They are only counted.
 */
#ifndef APPPOOL_SPAWNER_OUTPUT_LOST_LINES_H
#define APPPOOL_SPAWNER_OUTPUT_LOST_LINES_H

#include <stddef.h>

/** The lines that end in this text are lost. @param why the end of a sentence */
void lost_lines_add(const char *text, size_t length, const char *why);

/** Log how many, if that is due. @param name of the log, in a line of the error
 * log. @return ms: call this again then; -1: none is lost */
int lost_lines_tick(const char *name);

/** The program ends: log it now. */
void lost_lines_end(const char *name);

#endif
