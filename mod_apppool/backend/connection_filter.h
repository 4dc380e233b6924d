/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file connection_filter.h
 * @brief Filters on a connection to an app process. They see what mod_proxy
 *        does not tell: whether the app sent a single byte, and how the
 *        connection ended.
 *
 * They also pass on the response of an app that closes the connection before it
 * has read the body; wait for a response no longer than it can come; and end a
 * WebSocket in order when its process is stopped. They know whether anything of
 * a response is left unread, refuse a response that begins before the app has
 * read the request, and do not believe in the end of a connection that another
 * session may have cut. They keep mod_proxy from connecting by itself to a
 * process that we have not chosen, and from taking any bytes for HTTP/0.9.
 *
 * Lock:  none; a filter belongs to its connection, which one request has at a
 *        time.
 * Crash: all is private memory of the httpd child.
 * Trust: the filters look at what an app sends; mod_proxy parses it.
 */
#ifndef MOD_APPPOOL_BACKEND_CONNECTION_FILTER_H
#define MOD_APPPOOL_BACKEND_CONNECTION_FILTER_H

#include <httpd.h>
#include <mod_proxy.h>

#include "mod_apppool/backend/first_byte.h"
#include "mod_apppool/backend/websocket_close.h"
#include "shm/slots/connection_state.h"

/** connection.c sets the first six. */
typedef struct {
    proxy_worker *worker; /**< mod_proxy's, whose connection it is */
    int local;            /**< over a Unix socket */
    int http;             /**< the app speaks HTTP */
    int has_body;         /**< the request has */
    int reused;           /**< another request has used the connection */
    /** Of a shared connection of which others have copies, during the request
     * that uses it; else NULL. */
    const apl_connection_state_t *shared;
    request_rec *r;                  /**< the request it carries, or NULL */
    apppool_first_byte_t first_byte; /**< of that request */
    const struct ap_logconf *log;    /**< of that request, as it was */
    apr_off_t sent, read;            /**< bytes, before this request */
    /* What was seen of this request. */
    int unwritten, responded;
    int heads;   /**< lines that begin like the first line of a response */
    int status;  /**< of the last one */
    int hung_up; /**< the app has closed, maybe after a response */
    int ended;
    apppool_websocket_close_t websocket; /**< of a WebSocket */
    apr_status_t error;
} apppool_connection_filter_t;

/** Once, before any configuration's hooks run. */
void apppool_connection_filter_register(void);

/** On a new connection. */
void apppool_connection_filter_add(apppool_connection_filter_t *filter,
                                   conn_rec *c);

/** May the request be sent again when nobody has read it?
 * @param has_body also that of HEAD, of which httpd says that it has none
 * @param local    over a Unix socket */
int apppool_connection_filter_may_repeat(const request_rec *r, int has_body,
                                         int local);

/** A request is about to be sent.
 * @param first_byte copied; what it points to lives as long as the request */
void apppool_connection_filter_begin(apppool_connection_filter_t *filter,
                                     request_rec *r,
                                     const apppool_first_byte_t *first_byte);

/** mod_proxy is done with the request. The request's notes say if the app was
 * silent. */
void apppool_connection_filter_end(apppool_connection_filter_t *filter);

/** Was that a response that has ended where it said, to a request that the app
 * has read? A response without a body does not count, as an app may send one
 * all the same, and later. What may stand behind the response is the matter of
 * apppool_connection_filter_is_empty(). */
int apppool_connection_filter_is_clean(
    const apppool_connection_filter_t *filter);

/** Is the connection open, and nothing left of a response: not in the filters,
 * and not in the socket? @param r for its memory */
int apppool_connection_filter_is_empty(apppool_connection_filter_t *filter,
                                       conn_rec *c, const request_rec *r);

/** How it went. */
typedef enum {
    APPPOOL_HEARD,  /**< the app responded, or may have read the request */
    APPPOOL_UNSENT, /**< not a byte was sent */
    APPPOOL_UNREAD, /**< sent, but the app closed without having read it */
} apppool_outcome_t;

apppool_outcome_t
apppool_connection_filter_outcome(const apppool_connection_filter_t *filter);

/** Has mod_proxy read the end of the connection, because the app has closed it
 * or died? What mod_proxy reads without filters (the body of a response over
 * scgi) is not seen. */
int apppool_connection_filter_has_ended(
    const apppool_connection_filter_t *filter);

#endif
