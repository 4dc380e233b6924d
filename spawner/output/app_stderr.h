/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file app_stderr.h
 * @brief Lines that apps have sent to children of httpd as STDERR of FastCGI:
 *        they go where the output of their process goes.
 *
 * Without AppLog, a child of httpd has written them to the error log of the
 * virtual host, with the client of the request. Then they are only kept for
 * apppoolctl logs.
 *
 * Errors: lines of a process that is gone go to the error log, with the id of
 *         the process. If they are too many, the log says how many were dropped.
 * Crash:  shm/verbs/app_stderr.h.
 * Trust:  a child of httpd may forge lines of any process. The process has its
 *         token bucket for them, as for its own output.
 */
#ifndef APPPOOL_SPAWNER_OUTPUT_APP_STDERR_H
#define APPPOOL_SPAWNER_OUTPUT_APP_STDERR_H

#include "spawner/process/state.h"

/** Take those that wait: in each turn, before processes are reaped. */
void app_stderr_take(spawner_t *s);

#endif
