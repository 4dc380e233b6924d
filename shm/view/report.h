/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file report.h
 * @brief The pool as the JSON document that doc/status.md describes. Only this
 *        file knows its keys. With report_store.h and report_value.h it is the
 *        part of shm/ that uses jansson.
 *
 * Lock:  none: it reads a snapshot.
 * Trust: texts of the segment become valid UTF-8 and end within their bounds. A
 *        reference that leads nowhere is left out. An unknown kind of event is
 *        "unknown".
 */
#ifndef APPPOOL_SHM_VIEW_REPORT_H
#define APPPOOL_SHM_VIEW_REPORT_H

#include <jansson.h>

#include "shm/format/pool.h"

/** For json_dumps(): 0.1 is 0.1, and not 0.10000000000000001. */
#define APL_REPORT_REALS JSON_REAL_PRECISION(15)

/**
 * Describe a snapshot.
 * @param copy from apl_snapshot_take()
 * @param full 1: with query strings, where they were recorded
 * @return a new reference, or NULL when there is no memory
 */
json_t *apl_report_json(const apl_pool_t *copy, int full);

/** Its part about the last ten minutes: one object for each time between two
 * samples, oldest first. */
json_t *apl_report_history(const apl_header_t *h);

/** The word for an APL_EVENT_*. */
const char *apl_report_event(uint32_t kind);

#endif
