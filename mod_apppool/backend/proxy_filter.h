/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file proxy_filter.h
 * @brief Filters on a connection to an app process. mod_proxy does not say
 *        whether the app sent a single byte, and how the connection ended. The
 *        filters see it.
 *
 * They also do this: They stop waiting for a response when none can come. They
 * end a WebSocket in order when its process is stopped. They keep mod_proxy
 * from connecting by itself to a process that we have not chosen. They keep
 * mod_proxy from taking any bytes for HTTP/0.9. They limit the header of a
 * response.
 *
 * Lock:  none; a filter belongs to its connection, which one request has at a
 *        time.
 * Trust: the filters look at what an app sends; mod_proxy parses it.
 */
#ifndef MOD_APPPOOL_BACKEND_PROXY_FILTER_H
#define MOD_APPPOOL_BACKEND_PROXY_FILTER_H

#include <httpd.h>
#include <mod_proxy.h>

#include "mod_apppool/backend/first_byte.h"
#include "mod_apppool/backend/header_size.h"
#include "mod_apppool/backend/app_client.h"
#include "mod_apppool/backend/websocket_close.h"

/** client_proxy.c sets the first one. */
typedef struct {
    proxy_worker *worker;            /**< mod_proxy's, whose connection it is */
    conn_rec *c;                     /**< the connection */
    request_rec *r;                  /**< the request it carries, or NULL */
    apppool_first_byte_t first_byte; /**< of that request */
    const struct ap_logconf *log;    /**< its own, not replaced */
    apr_off_t sent, read;            /**< bytes, before this request */
    /* What was seen of this request. */
    int unwritten, responded;
    apppool_header_size_t header;
    int is_early; /**< something came before the request was sent */
    int ended;
    apppool_websocket_close_t websocket; /**< of a WebSocket */
    apr_status_t error;
} apppool_proxy_filter_t;

/** Call it once, before the hooks of any configuration run. */
void apppool_proxy_filter_register(void);

/** Add the filters to a new connection. */
void apppool_proxy_filter_add(apppool_proxy_filter_t *filter, conn_rec *c);

/** A request is about to be sent.
 * @param first_byte copied; what it points to lives as long as the request */
void apppool_proxy_filter_begin(apppool_proxy_filter_t *filter, request_rec *r,
                                const apppool_first_byte_t *first_byte);

/** mod_proxy is done with the request. The request's notes say if the app was
 * silent. */
void apppool_proxy_filter_end(apppool_proxy_filter_t *filter);

/** How the request went. */
apppool_outcome_t
apppool_proxy_filter_outcome(const apppool_proxy_filter_t *filter);

/** Has mod_proxy read the end of the connection, because the app has closed it
 * or died? */
int apppool_proxy_filter_has_ended(const apppool_proxy_filter_t *filter);

#endif
