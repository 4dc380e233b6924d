/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file handler.h
 * @brief The handler of an application's requests. It chooses the process.
 *
 * A process that cannot be connected to is detached and the next one is tried,
 * at most ten times and until AppQueueTimeout. exchange.h says when a request
 * is repeated.
 */
#ifndef MOD_APPPOOL_REQUEST_HANDLER_H
#define MOD_APPPOOL_REQUEST_HANDLER_H

#include <httpd.h>

#include "mod_apppool/pump/pump.h"

/** The hook. */
int apppool_handler(request_rec *r);

/** A request that was suspended: end it (pump/suspend.h). */
int apppool_handler_resume(request_rec *r, apppool_link_why_t why);

#endif
