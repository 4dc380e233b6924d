/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file stuck_report.h
 * @brief Reports on processes that are stuck: which request, and what the
 *        process is doing. Nothing here waits.
 *
 *     stuck_report_request(s, p, "is slow", &request);
 *     stuck_report_begin(s, p);
 *
 * and before a process is killed, again and again until it says yes:
 *
 *     if (!stuck_report_is_done(s, p))
 *         return;
 *
 * The report is written by a child of the spawner (helper_job.h), as what it
 * reads may block, and takes two seconds at the most.
 *
 * Crash: a report that is being written when the spawner dies is finished; the
 *        next spawner begins another one before it ends the process.
 * Trust: what a request says of itself is a stranger's word; log_line()
 *        escapes it.
 */
#ifndef APPPOOL_SPAWNER_DIAGNOSE_STUCK_REPORT_H
#define APPPOOL_SPAWNER_DIAGNOSE_STUCK_REPORT_H

#include "shm/slots/session_peek.h"
#include "spawner/state/state.h"

/** One line: the process "is slow", say, with this request. */
void stuck_report_request(const spawner_t *s, const process_t *p,
                          const char *what, const apl_session_peek_t *request);

/** Begin the report. @return 0; -1: too many are being written, there is none
 * of this process */
int stuck_report_begin(spawner_t *s, process_t *p);

/**
 * May it be ended? The first call begins a report. When that is written it is
 * sent AppDumpSignal, and has a second to print; then it may.
 * @return 0: not yet; the loop is woken when it is worth asking again
 */
int stuck_report_is_done(spawner_t *s, process_t *p);

#endif
