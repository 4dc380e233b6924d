/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file warmup.h
 * @brief AppReady /path: sends requests for that path, over HTTP, to a process
 *        that accepts connections, until a response is 2xx or 3xx. So the first
 *        client meets an app that has loaded its code and reached its database.
 *
 * There is one request at a time, on the probe of ready.h. Nothing blocks.
 *
 * Trust: only the first twelve bytes of the status line are used. The rest of
 *        the response is read and ignored for at most a second, so that the app
 *        can finish it.
 */
#ifndef APPPOOL_SPAWNER_START_WARMUP_H
#define APPPOOL_SPAWNER_START_WARMUP_H

#include "spawner/process/state.h"

/**
 * Send the request, or read the response. p->ready.probe is connected.
 * @param app NULL: it has left the table. Then the process counts as ready. So
 *            does a process that was started with another protocol
 * @return 1: it is ready
 */
int warmup_check(const spawner_t *s, process_t *p, const app_entry_t *app);

/** "it did not respond to GET /up with 2xx or 3xx (the last was 503)" */
void warmup_missing(const process_t *p, const app_entry_t *app, char text[256]);

#endif
