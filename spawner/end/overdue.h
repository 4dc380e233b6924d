/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file overdue.h
 * @brief Requests that take too long (AppHungAfter, AppKillAfter), and the
 *        processes that are ended for them.
 *
 * The spawner writes to the segment first. From then on a killed process is no
 * capacity, its replacement is ordered, and its requests know why they fail.
 * Then life.c sees what the segment says and ends the process. It does
 * the same when a child of httpd has written that.
 *
 * Trust: a child of httpd may have any process ended. A client, or any child of
 *        httpd, has written the texts of a request. log_line() escapes them.
 */
#ifndef APPPOOL_SPAWNER_END_OVERDUE_H
#define APPPOOL_SPAWNER_END_OVERDUE_H

#include "spawner/process/state.h"

/** Find requests that take too long. Call this once a second. */
void overdue_check(spawner_t *s);

/**
 * The process is to be ended with the requests it has. The first call writes
 * the log, notifies (AppNotify), and begins a report.
 * @return 1: yes; 0: the report is not finished, and TERM would change it
 */
int overdue_may_end(spawner_t *s, process_t *p);

/** @return the number of the app's unkillable processes, if that is more than
 * AppMaxUnkillable; else 0. It includes processes that were never ready: the
 * segment has no slot for them */
uint32_t overdue_unkillable(const spawner_t *s, const app_entry_t *app);

/** The process was sent SIGKILL at `killed` (us) and still lives. After a while
 * it counts as unkillable. The segment and the log then say so once. */
void overdue_survives_kill(spawner_t *s, process_t *p, int64_t killed);

#endif
