/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file status_text.h
 * @brief Values of the status document as people read them, in HTML.
 *
 * Trust: what is returned is escaped, whatever the value is.
 */
#ifndef MOD_APPPOOL_STATUS_STATUS_TEXT_H
#define MOD_APPPOOL_STATUS_STATUS_TEXT_H

#include <httpd.h>
#include <jansson.h>

#define APPPOOL_STATUS_NONE "&ndash;"

/** Any value. */
const char *apppool_status_show(request_rec *r, const json_t *value);

/** A member of an object. */
const char *apppool_status_member(request_rec *r, const json_t *object,
                                  const char *key);

/** The text of a member; "" if it has none. Not escaped. */
const char *apppool_status_word(const json_t *object, const char *key);

/** A member that is a whole number; otherwise 0. */
apr_int64_t apppool_status_number(const json_t *object, const char *key);

/** Bytes: "12.3 MB". */
const char *apppool_status_bytes(request_rec *r, const json_t *value);

/** Seconds: "40 ms", "3.2 s", "5 min", "2 h 10 min", "3 d 4 h". */
const char *apppool_status_span(request_rec *r, double seconds);

/** Seconds since an ISO 8601 time; below 0 if the value is not a time. */
double apppool_status_since(request_rec *r, const json_t *instant);

/** "12:34:56" of an ISO 8601 time. */
const char *apppool_status_clock(request_rec *r, const json_t *instant);

/** The bound below which this part (0 to 1) of a histogram is: "&le; 25 ms".
 */
const char *apppool_status_within(request_rec *r, const json_t *histogram,
                                  double part);

#endif
