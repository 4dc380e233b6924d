/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file configure.h
 * @brief A process gets what the app table says of its app: limits of time,
 *        the stop signal, its label, and where its output goes.
 *
 * Crash:  the next spawner does it again when it adopts the process.
 * Trust:  the app table is root's.
 */
#ifndef APPPOOL_SPAWNER_UPKEEP_CONFIGURE_H
#define APPPOOL_SPAWNER_UPKEEP_CONFIGURE_H

#include "spawner/state/state.h"

/** Take what the table says. When the app has left the table, the process keeps
 * what it has. */
void configure_process(spawner_t *s, process_t *p);

#endif
