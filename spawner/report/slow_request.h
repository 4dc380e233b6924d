/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file slow_request.h
 * @brief AppSlowAfter: reports each slow request once.
 *
 * Lock:  none is taken; requests are read one by one.
 * Crash: the next spawner reports the slow requests once more.
 * Trust: the process that a request names must be ours. A flood of slow
 *        requests causes a bounded number of lines a second.
 */
#ifndef APPPOOL_SPAWNER_REPORT_SLOW_REQUEST_H
#define APPPOOL_SPAWNER_REPORT_SLOW_REQUEST_H

#include "spawner/process/state.h"

/** Check all open requests. Call this once a second. */
void slow_request_check(spawner_t *s);

#endif
