/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file status_table.h
 * @brief The status report as a table for people.
 *
 * Trust: missing keys are shown as "-"; texts are printed without control
 *        characters.
 */
#ifndef APPPOOL_CTL_STATUS_TABLE_H
#define APPPOOL_CTL_STATUS_TABLE_H

#include <jansson.h>

/** Print to standard output. */
void table_print(const json_t *report);

/** Print a line, without control characters. */
void table_line(const char *line);

/** A text of an object, without control characters, or "-". Each of the last
 * four calls has its own buffer. */
const char *table_text(const json_t *o, const char *key);

#endif
