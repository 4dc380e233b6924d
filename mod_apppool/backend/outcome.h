/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file outcome.h
 * @brief How a request to an app process went, and whether it may be sent
 *        again. The module's own clients (client_http.h, client_cgi.h) and the filters of
 *        mod_proxy's connections (proxy_filter.h) find out the first, and
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
    APPPOOL_HEARD,  /**< the app responded, or the request is not repeated */
    APPPOOL_UNSENT, /**< not a byte was sent */
    APPPOOL_BROKEN, /**< the connection broke before a response, and the app may
                       get the request twice */
} apppool_outcome_t;

/**
 * May the app get the request twice? It may if the request has no body and its
 * method only reads: GET, HEAD or OPTIONS. When a connection breaks, it is not
 * known what the app has read. A reset says that the app has not read
 * everything. It does not say that the app has read nothing.
 * @param has_body 1 also for a HEAD request with a body, although httpd says
 *        that HEAD has none
 */
int apppool_outcome_may_repeat(const request_rec *r, int has_body);

#endif
