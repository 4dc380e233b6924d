/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file values.h
 * @brief Texts and numbers of other programs, for a terminal.
 *
 * Trust: a text may have any bytes. A control character would be an order to
 *        the terminal, which may be that of root. It is printed as "?".
 */
#ifndef APPPOOL_CTL_VALUES_H
#define APPPOOL_CTL_VALUES_H

#include <jansson.h>
#include <stdio.h>

/** Print a text of UTF-8. A tab is printed as it is. */
void values_put(FILE *out, const char *text);

/** The same on a line of standard output. */
void values_line(const char *line);

/** Put "?" in the place of each byte that is not part of UTF-8 or of a control
 * character. A text that was cut may end in such bytes. */
void values_calm(char *text);

/** A text of an object, without control characters, or "-". Each of the last
 * four calls has its own buffer. */
const char *values_text(const json_t *o, const char *key);

/** A number of an object, or 0. */
json_int_t values_number(const json_t *o, const char *key);

#endif
