/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file launch.h
 * @brief Takes an order of the segment and starts a process. Either a template
 *        forks it (template.h, fork_start.h), or it is forked here: sockets,
 *        record, "go". boot.c says what the child does then.
 *
 * Crash:  before "go" the child has done nothing. If no "go" comes, it exits.
 * Trust:  an order only names an app. Everything else comes from the app table.
 */
#ifndef APPPOOL_SPAWNER_START_LAUNCH_H
#define APPPOOL_SPAWNER_START_LAUNCH_H

#include "spawner/process/state.h"

/** Take orders, up to the number of processes that may start at once. Continue
 * the starts that a template has to do. */
void launch_orders(spawner_t *s);

#endif
