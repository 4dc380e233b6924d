/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file report_value.h
 * @brief Values of the report (report.h): texts, numbers and ids as JSON.
 *
 * Trust: a text of the segment becomes valid UTF-8.
 */
#ifndef APPPOOL_SHM_VIEW_REPORT_VALUE_H
#define APPPOOL_SHM_VIEW_REPORT_VALUE_H

#include <jansson.h>
#include <stdint.h>

/** Any bytes as a text of JSON: bytes that are not UTF-8 become "?". */
json_t *apl_report_text(const char *s);

json_t *apl_report_number(uint64_t n);

/** A figure that another process may write at any time, and that may be
 * nonsense. JSON has no number above INT64_MAX. */
json_t *apl_report_figure(const uint64_t *n);

/** A time as ISO 8601. @param s since 1970 @return NULL: no time of this era */
json_t *apl_report_epoch(uint64_t s);

/** A duration with milliseconds. */
json_t *apl_report_seconds(int64_t us);

/** An id as 16 hexadecimal digits. */
json_t *apl_report_id(uint64_t id);

/** Set a key. @param value taken over; NULL: the key is set to null */
void apl_report_set_known(json_t *o, const char *key, json_t *value);

#endif
