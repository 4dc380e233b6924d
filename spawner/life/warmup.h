/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file warmup.h
 * @brief AppReady /path: a process that accepts connections is asked for that
 *        path, over HTTP, until it answers 2xx or 3xx. So the first client
 *        meets an app that has loaded all, and has its database.
 *
 * One request at a time, on the probe of ready.h. Nothing blocks.
 *
 * Crash: the next spawner asks again.
 * Trust: of the answer only the status line's first twelve bytes are looked
 *        at; the rest is read and thrown away, so that the app is not hung up
 *        on, for a second at the most.
 */
#ifndef APPPOOL_SPAWNER_LIFE_WARMUP_H
#define APPPOOL_SPAWNER_LIFE_WARMUP_H

#include "spawner/state/state.h"

/**
 * Ask, or look for the answer. p->ready.probe is connected.
 * @param app NULL: it left the table meanwhile; then it is ready, as one that
 *            was started under a configuration with another protocol
 * @return 1: it is ready
 */
int warmup_check(const spawner_t *s, process_t *p, const app_entry_t *app);

/** "GET /up was not answered with 2xx or 3xx (last: 503)" */
void warmup_missing(const process_t *p, const app_entry_t *app, char text[256]);

#endif
