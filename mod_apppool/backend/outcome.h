/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file outcome.h
 * @brief How a request to an app process went, and whether it may be sent
 *        again. The module's own clients (http.h, fcgi.h) and the filters of
 *        mod_proxy's connections (connection_filter.h) find out the first, and
 *        ask for the second.
 *
 * Lock:  none.
 * Crash: not concerned.
 * Trust: not concerned.
 */
#ifndef MOD_APPPOOL_BACKEND_OUTCOME_H
#define MOD_APPPOOL_BACKEND_OUTCOME_H

#include <httpd.h>

typedef enum {
    APPPOOL_HEARD,  /**< the app responded, or may have read the request */
    APPPOOL_UNSENT, /**< not a byte was sent */
    APPPOOL_UNREAD, /**< sent, but the app closed without having read it */
} apppool_outcome_t;

/** Does the method of the request only read (GET, HEAD, OPTIONS), so that the
 * app may get the request twice? httpd has one number for GET and HEAD. */
static inline int apppool_outcome_is_safe(const request_rec *r)
{
    return r->method_number == M_GET || r->method_number == M_OPTIONS;
}

/** May the request be sent again if no process has read it?
 * @param has_body 1 also for a HEAD request with a body, although httpd says
 *        that HEAD has none
 * @param local    over a Unix socket */
int apppool_outcome_may_repeat(const request_rec *r, int has_body, int local);

#endif
