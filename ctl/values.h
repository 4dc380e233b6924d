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

/** A line of standard output, in the same way. */
void values_line(const char *line);

/** Put "?" in the place of each byte that is not part of UTF-8 or of a control
 * character. A text that was cut may end in such bytes. */
void values_calm(char *text);

/** A text of an object, without control characters, or "-". Each of the last
 * four calls has its own buffer. */
const char *values_text(const json_t *o, const char *key);

/** A text of an object as it is, not for the terminal, or "". */
const char *values_word(const json_t *o, const char *key);

/** The object of this `name` in a list. @return NULL: there is none */
const json_t *values_named(const json_t *list, const char *name);

/** A number of an object, or 0. */
json_int_t values_number(const json_t *o, const char *key);

#define VALUES_SHORT 24 /* bytes of the texts below */

/** Seconds as "12 s", "3 min", "5 h", "2 d". */
void values_age(char *to, size_t size, double s);

/** The age of a time in ISO 8601, or "-". */
void values_since(char *to, size_t size, const json_t *o, const char *key);

/** A duration in seconds as "0.4 ms", "40 ms", "3.2 s"; "-" if it is no number.
 */
const char *values_span(const json_t *seconds, char to[VALUES_SHORT]);

/** Bytes as "12 MB"; "-" if it is no number. */
const char *values_bytes(const json_t *bytes, char to[VALUES_SHORT]);

/** A number with so many decimals; "-" if it is none. */
const char *values_decimal(const json_t *number, int decimals,
                           char to[VALUES_SHORT]);

/** Seconds of a clock that nobody sets. */
double values_clock(void);

#endif
