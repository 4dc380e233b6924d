/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file status_table.h
 * @brief The status report as a table for people.
 *
 * Trust: keys that are missing are shown as "-"; texts are printed without
 *        control characters.
 */
#ifndef APPPOOL_CTL_STATUS_TABLE_H
#define APPPOOL_CTL_STATUS_TABLE_H

#include <jansson.h>

/** Print to stdout. */
void table_print(const json_t *report);

/** Print a line, without control characters. */
void table_line(const char *line);

/** A text of an object, without control characters, or "-"; in a buffer of its
 * own for each of the last four calls. */
const char *table_text(const json_t *o, const char *key);

#endif
