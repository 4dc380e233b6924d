/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file launch.h
 * @brief From an order in the segment to a forked process: sockets, record,
 *        go. What the child does then stands in boot.c.
 *
 * Crash:  until "go" the child has done nothing, and without it, it exits.
 * Trust:  an order only names an app; all else is from the table.
 */
#ifndef APPPOOL_SPAWNER_LIFE_LAUNCH_H
#define APPPOOL_SPAWNER_LIFE_LAUNCH_H

#include "spawner/state/state.h"

/** Take orders, as many as may start at once. */
void launch_orders(spawner_t *s);

/** Read what the booting child has reported so far. */
void launch_read_reports(spawner_t *s, process_t *p);

/** loop_ready_t of the FIFO. */
void launch_output(void *owner, uint32_t events);

#endif
