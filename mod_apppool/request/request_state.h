/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file request_state.h
 * @brief What the module keeps of a request of httpd, in its request_config.
 *
 * It is not in the user data of the pool. That needs a hash table, which costs
 * a WebSocket or an event stream another block of memory for as long as it
 * lasts.
 *
 * Thread: the one that has the request.
 */
#ifndef MOD_APPPOOL_REQUEST_REQUEST_STATE_H
#define MOD_APPPOOL_REQUEST_REQUEST_STATE_H

#include <http_config.h>

#include "mod_apppool/config/config.h"

typedef struct {
    void *app_request; /**< app_request.h; NULL: not yet */
    void *count;       /**< response_count.h; NULL: it is not counted, or the
                            request before it is */
} apppool_request_state_t;

/** @return NULL: nothing was kept */
static inline apppool_request_state_t *
apppool_request_state_of(const request_rec *r)
{
    return ap_get_module_config(r->request_config, &apppool_module);
}

/** As before, and begin to keep something. Never NULL. */
static inline apppool_request_state_t *
apppool_request_state_begin(request_rec *r)
{
    apppool_request_state_t *state = apppool_request_state_of(r);

    if (!state) {
        state = apr_pcalloc(r->pool, sizeof *state);
        ap_set_module_config(r->request_config, &apppool_module, state);
    }
    return state;
}

#endif
