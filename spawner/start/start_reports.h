/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file start_reports.h
 * @brief Reads what the forked child reports while it becomes the app (boot.h),
 *        and then what the app prints.
 *
 * Crash:  a report that was not read is lost (adopt.c).
 * Trust:  the child reports before it executes a command of the app. The output
 *         is the app's.
 */
#ifndef APPPOOL_SPAWNER_START_START_REPORTS_H
#define APPPOOL_SPAWNER_START_START_REPORTS_H

#include "spawner/process/state.h"

/** Read the reports that the booting child has sent so far. */
void start_reports_read(spawner_t *s, process_t *p);

/** loop_ready_t of the pipe of the reports. */
void start_reports_ready(void *owner, uint32_t events);

/** loop_ready_t of the FIFO of the output. */
void start_reports_output(void *owner, uint32_t events);

#endif
