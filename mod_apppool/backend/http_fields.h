/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file http_fields.h
 * @brief Read the lines of a header of HTTP/1: names and values.
 *
 * Lock:  none.
 * Crash: not concerned.
 * Trust: the lines are the app's. A line that two readers could understand in
 *        different ways is an error.
 */
#ifndef MOD_APPPOOL_BACKEND_HTTP_FIELDS_H
#define MOD_APPPOOL_BACKEND_HTTP_FIELDS_H

#include <apr_tables.h>

/**
 * Read all lines. They are changed, and stay where they are as long as the
 * table.
 * @param at  the first line
 * @param end behind the LF of the last line, which is not empty
 * @return NULL; or what is wrong, a constant
 */
const char *apppool_http_fields_read(char *at, char *end, apr_table_t *fields);

/**
 * The length of the body that the fields name.
 * @param length -1: they name none
 * @return NULL; or what is wrong, a constant
 */
const char *apppool_http_fields_length(const apr_table_t *fields,
                                       apr_off_t *length);

#endif
