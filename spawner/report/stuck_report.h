/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file stuck_report.h
 * @brief Reports on stuck processes: which request it is, and what the process
 *        is doing. Nothing here waits.
 *
 *     stuck_report_request(s, p, "is slow", &request);
 *     stuck_report_begin(s, p);
 *
 * and before a process is killed, again and again until it returns 1:
 *
 *     if (!stuck_report_is_done(s, p))
 *         return;
 *
 * A helper job (job.h) writes the report, because what it reads may
 * block. It takes at most two seconds.
 *
 * Crash: if the spawner dies while a report is being written, the report is
 *        finished. The next spawner begins another one before it ends the
 *        process.
 * Trust: any client may have written the texts of a request. log_line() escapes
 *        them.
 */
#ifndef APPPOOL_SPAWNER_REPORT_STUCK_REPORT_H
#define APPPOOL_SPAWNER_REPORT_STUCK_REPORT_H

#include "shm/slots/session.h"
#include "spawner/process/state.h"

/** Write one line: the process, `what` (such as "is slow"), and the request. */
void stuck_report_request(const spawner_t *s, const process_t *p,
                          const char *what, const apl_session_peek_t *request);

/** Begin the report. @return 0; -1: there is none, because too many are being
 * written */
int stuck_report_begin(spawner_t *s, process_t *p);

/**
 * May the process be ended? The first call begins a report. When the report is
 * written, or after three seconds, the process gets AppDumpSignal, and has a
 * second to print.
 * @return 1: yes; 0: not yet, and the loop wakes up for the next try
 */
int stuck_report_is_done(spawner_t *s, process_t *p);

/**
 * AppSlowAfter: report each slow request once. Check all open requests. They
 * are read one by one, without the lock. Call this once a second. The next
 * spawner reports them once more. The process that a request names must be
 * ours. A flood of slow requests causes a bounded number of lines a second.
 */
void stuck_report_check_slow(spawner_t *s);

#endif
