/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file store_log.h
 * @brief Copies what the store logs to httpd's error log.
 *
 *     [time] [apppool:notice] [pid 12] apppool: store: text
 *
 * The store writes lines to the FIFO CONTRACT_STORE_LOG. A line may begin with
 * a level in angle brackets, <3> for an error to <6> for an info; without one
 * it is a notice. httpd's parent makes the FIFO before it writes the app table.
 *
 * Crash:  lines in the FIFO stay while the store lives, and the next spawner
 *         reads them.
 * Trust:  the store may write any bytes. Control characters are escaped, a line
 *         is cut off after LOG_MAX bytes, and too many lines are dropped
 *         (log.h).
 */
#ifndef APPPOOL_SPAWNER_OUTPUT_STORE_LOG_H
#define APPPOOL_SPAWNER_OUTPUT_STORE_LOG_H

#include "spawner/process/state.h"

/** Read the FIFO from now on, if there is one. May be called again. */
void store_log_open(const spawner_t *s);

#endif
