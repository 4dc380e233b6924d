/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file report_statistics.h
 * @brief The parts of the report (report.h) that come from statistics.h: the
 *        counters and the events.
 *
 * Lock:  none: it reads a snapshot.
 * Crash: not concerned.
 * Trust: an unknown kind of event is reported as "unknown".
 */
#ifndef APPPOOL_SHM_VIEW_REPORT_STATISTICS_H
#define APPPOOL_SHM_VIEW_REPORT_STATISTICS_H

#include <jansson.h>

#include "shm/format/format.h"

/** The word for an APL_EVENT_* in the report. */
const char *apl_report_event(uint32_t kind);

json_t *apl_report_counters(const apl_counters_t *c);

/** The events that the segment still has, oldest first. */
json_t *apl_report_events(const apl_header_t *h);

#endif
