/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file report_times.h
 * @brief The parts of the report (report.h) about time: points in time,
 *        histograms, the history.
 *
 * Lock:  none: it reads a snapshot.
 * Crash: not concerned.
 * Trust: numbers of the segment become numbers that JSON can express.
 */
#ifndef APPPOOL_SHM_VIEW_REPORT_TIMES_H
#define APPPOOL_SHM_VIEW_REPORT_TIMES_H

#include <jansson.h>

#include "shm/format/pool.h"

/** A time of our clock (apl_now()) in ISO 8601. */
json_t *apl_report_instant(int64_t t);

/** {"count", "sum", "buckets": [{"le", "count"}, ...]}, as OpenMetrics counts:
 * each bucket includes those below it. The bucket without a bound is left
 * out. */
json_t *apl_report_histogram(const apl_histogram_t *h);

/** One object for each time between two samples, oldest first. */
json_t *apl_report_history(const apl_header_t *h);

#endif
