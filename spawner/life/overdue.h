/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file overdue.h
 * @brief Requests that take too long (AppHungAfter, AppKillAfter), and the
 *        processes that are ended because of them.
 *
 * The segment is told first: there a killed process is no capacity any more,
 * its replacement is ordered, and its requests know why they fail. Then life.c
 * sees that, as it would see it of a child of httpd's, and ends the process.
 *
 * Crash: the next spawner sees it as well.
 * Trust: a child of httpd may have any process ended. What a request says of
 *        itself is a stranger's word; log_line() escapes it.
 */
#ifndef APPPOOL_SPAWNER_LIFE_OVERDUE_H
#define APPPOOL_SPAWNER_LIFE_OVERDUE_H

#include "spawner/state/state.h"

/** Look at the clock; once a second. */
void overdue_check(spawner_t *s);

/**
 * It is to be ended with the requests it has, whoever said so. The log and
 * AppNotify are told, and a report is begun.
 * @return 0: that is being written yet, and TERM would change what is seen
 */
int overdue_may_end(spawner_t *s, process_t *p);

/** How many zombies has an app, if that is more than AppMaxUnkillable; else 0.
 * With those that never were ready: the segment has no slot for them. */
uint32_t overdue_unkillable(const spawner_t *s, const app_entry_t *app);

/** It was sent SIGKILL then, us, and lives: if that was a while ago, it is a
 * zombie. The segment and the log are told, once. */
void overdue_survives_kill(spawner_t *s, process_t *p, int64_t killed);

#endif
