/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file launch.h
 * @brief Takes an order of the segment and forks a process: sockets, record,
 *        "go". boot.c has what the child then does.
 *
 * Crash:  before "go" the child has done nothing. If no "go" comes, it exits.
 * Trust:  an order only names an app. All else comes from the app table.
 */
#ifndef APPPOOL_SPAWNER_LIFE_LAUNCH_H
#define APPPOOL_SPAWNER_LIFE_LAUNCH_H

#include "spawner/state/state.h"

/** Take orders, up to the number of processes that may start at once. */
void launch_orders(spawner_t *s);

/** Read the reports that the booting child has sent so far. */
void launch_read_reports(spawner_t *s, process_t *p);

/** loop_ready_t of the FIFO of the output. */
void launch_output(void *owner, uint32_t events);

#endif
