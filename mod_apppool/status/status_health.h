/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file status_health.h
 * @brief The health URL for load balancers: SetHandler apppool-health.
 *
 * It responds with one word: 200 and "ok" if the next request would get a
 * process or a place in the queue, else 503 and the reason. Without a query it
 * speaks for the host; with ?app=NAME, up to 64 times, for these apps.
 * doc/balancer.md has the list of words. Anybody may ask: a response shows no
 * more than that an app of this name exists.
 *
 * Lock:  for each app, the pool lock for less than a microsecond
 *        (shm/verbs/health.h). If one wait for it is in vain, there is no other
 *        one.
 * Trust: no byte of the segment and none of the request is in a response.
 */
#ifndef MOD_APPPOOL_STATUS_STATUS_HEALTH_H
#define MOD_APPPOOL_STATUS_STATUS_HEALTH_H

#include <httpd.h>

/* The hook. */
int apppool_status_health(request_rec *r);

#endif
