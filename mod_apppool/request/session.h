/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file session.h
 * @brief A request's stay with a process of its app: from the checkout to the
 *        last byte that the app has to say.
 *
 * The process is given back when the app's last byte has been read, not when
 * the client has it: response_filter.h. In any case it is given back when the
 * request ends; or it keeps the request, if it was silent for too long, or the
 * client has left before the app's last byte.
 *
 * Lock:  the pool lock, in the verbs of shm/verbs/checkout.h.
 * Crash: a child that is killed leaves its sessions to the spawner; one of
 *        prefork that ends in its signal handler does the same.
 * Trust: not concerned.
 */
#ifndef MOD_APPPOOL_REQUEST_SESSION_H
#define MOD_APPPOOL_REQUEST_SESSION_H

#include <httpd.h>

#include "mod_apppool/body/request_body.h"
#include "mod_apppool/backend/connection.h"
#include "mod_apppool/body/response_buffer.h"
#include "mod_apppool/body/streaming.h"
#include "mod_apppool/request/cgi_variables.h"
#include "mod_apppool/body/response_check.h"

typedef struct {
    request_rec *r;
    const apppool_mount_t *mount;
    const apppool_app_t *app;
    apppool_request_body_t *body;
    apppool_response_buffer_t *buffer; /**< the answer's; NULL: it has none */
    apl_pool_t *pool;
    apl_session_ref_t hold;
    char *filename;        /**< what the URL was mapped to */
    int64_t deadline;      /**< of all waiting, us of apl_now() */
    int64_t process_since; /**< when it got its process, the same */
    const char *file;      /**< that the app wants to be sent, or NULL */
    int socket;            /**< descriptor of the connection to the process */
    const apppool_connection_t *connection; /**< that connection's */
    apr_interval_time_t timeout;    /**< us that the process may be silent */
    int keepalives;                 /**< the client's, while hidden; or -1 */
    apppool_cgi_variables_t cgi;    /**< the request's own, while hidden */
    apppool_response_check_t check; /**< whether the answer is one */
    apppool_streaming_t streaming;  /**< whether it is one that ends */
    int started;                    /**< the answer has begun */
    int ended;                      /**< its end has come */
    int silent;                     /**< for too long, the app was */
    int closed;                     /**< the app has closed the connection */
    int answered;                   /**< by a filter, in place of the app */
    int error; /**< of an ErrorDocument: the status to answer with */
} apppool_session_t;

/** Begin; the deadline runs from here, so the body was read before. */
apppool_session_t *apppool_session_begin(request_rec *r,
                                         const apppool_mount_t *mount,
                                         apppool_request_body_t *body);

/** Get a process; may wait. @return APR_SUCCESS, or as of apl_checkout() */
apr_status_t apppool_session_checkout(apppool_session_t *s);

/** Give the process back, if there is one. */
void apppool_session_checkin(apppool_session_t *s);

/** It refused the connection: detach it. */
void apppool_session_detach_refusing(apppool_session_t *s);

/** Has its process been killed? Who saw a connection break asks this before
 * anybody else is sent there: the process may listen for a moment yet. If so
 * it is detached. @return 1: it has */
int apppool_session_detach_if_ending(apppool_session_t *s);

/** Was its process ended because of a request (AppKillAfter)? */
int apppool_session_is_killed(const apppool_session_t *s);

/** Was it stopped because it had to leave, and only links were left
 * (AppDrainTimeout)? This is one of them, then. */
int apppool_session_is_cut_off(const apppool_session_t *s);

/**
 * Hide from mod_proxy that this is not the client's first request on its
 * connection, so that a dead app is a 502 and no closed connection; and what
 * CGI calls otherwise (cgi_variables.h). And take that back. The filter takes
 * it back once the answer begins.
 */
void apppool_session_prepare(apppool_session_t *s);
void apppool_session_restore(apppool_session_t *s);

/** End: nothing of the visit is left but the answer. */
void apppool_session_end(apppool_session_t *s);

#endif
