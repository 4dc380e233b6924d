/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file slow_request.h
 * @brief AppSlowAfter: a request that lasts is reported, once.
 *
 * Lock:  none is taken; requests are read one by one.
 * Crash: the next spawner reports once more what is slow.
 * Trust: a request is believed as far as it names a process that is ours; a
 *        flood of them makes some lines a second and no more.
 */
#ifndef APPPOOL_SPAWNER_DIAGNOSE_SLOW_REQUEST_H
#define APPPOOL_SPAWNER_DIAGNOSE_SLOW_REQUEST_H

#include "spawner/state/state.h"

/** Check all open requests. Call this once a second. */
void slow_request_check(spawner_t *s);

#endif
