/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file app_request.h
 * @brief The record of a request to an app: its relation to a process, from the
 *        checkout to the last byte that the app sends.
 *
 * The process is given back when the app's last byte has been read
 * (response_filter.h). The client does not need to have it then. The process is
 * given back at the latest when the request ends. There is one exception: the
 * process keeps a request if the app was silent for too long, or if the client
 * left before the app's last byte.
 *
 * Lock:  the pool lock, in the verbs of shm/verbs/checkout.h.
 * Crash: the spawner gives back the sessions of a child that is killed, or of a
 *        child of prefork that ends in its signal handler.
 */
#ifndef MOD_APPPOOL_REQUEST_APP_REQUEST_H
#define MOD_APPPOOL_REQUEST_APP_REQUEST_H

#include <httpd.h>

#include "mod_apppool/body/request_body.h"
#include "mod_apppool/backend/app_client.h"
#include "mod_apppool/backend/bare_packet.h"
#include "mod_apppool/backend/http_request.h"
#include "mod_apppool/backend/stream_client.h"
#include "mod_apppool/body/response_buffer.h"
#include "mod_apppool/body/streaming.h"
#include "mod_apppool/request/cgi_variables.h"
#include "mod_apppool/body/response_check.h"

typedef struct {
    request_rec *r;
    const apppool_mount_t *mount;
    const apppool_app_t *app;
    apppool_request_body_t *body;
    apppool_response_buffer_t *buffer; /**< of the response; NULL: none */
    apl_pool_t *pool;
    apl_session_ref_t ref;
    char *filename;        /**< what the URL was mapped to */
    int64_t deadline;      /**< of all waiting, us of apl_now() */
    int64_t process_since; /**< when it got its process, the same */
    const char *file;      /**< that the app has named (X-Sendfile), or NULL */
    int socket;            /**< descriptor of the connection to the process */
    apppool_parked_t parked;
    apppool_app_client_t *client; /**< that sends it now; or NULL */
    /* What is sent to any process of a protocol, made once (request_head.h). */
    apppool_bare_packet_t packet;        /**< over scgi or uwsgi */
    apppool_http_request_t http_request; /**< over HTTP, without mod_proxy */
    const char *url;                     /**< by mod_proxy */
    apr_interval_time_t timeout; /**< us that the process may be silent */
    int keepalives;              /**< the real number, while prepared; or -1 */
    apppool_cgi_variables_t
        cgi; /**< the request's own values, while prepared */
    apppool_response_check_t check; /**< is it a response, and complete? */
    apppool_streaming_t streaming;  /**< is the response a stream? */
    apppool_stream_client_t stream_client; /**< has it left? */
    int may_leave_worker; /**< there is room for an upgraded connection that no
                               worker holds */
    uint32_t limit;       /**< of long-lived connections, that it is above */
    int is_left;          /**< the client is to connect again */
    int started;          /**< the response has begun */
    int ended;            /**< its end has come */
    int silent;           /**< the app was silent for too long */
    int closed;           /**< the app has closed the connection */
    int broken;           /**< before the end of its response */
    int repeated;         /**< it was sent, and its connection broke */
    int overloaded;       /**< the app has too many requests, and says so */
    int elsewhere;        /**< it has named another path as its response */
    int responded;        /**< a filter has responded, not the app */
    int error; /**< of an ErrorDocument: the status of the response */
} apppool_app_request_t;

/** Begin. The deadline counts from here, so the body has to be read before. */
apppool_app_request_t *apppool_app_request_begin(request_rec *r,
                                                 const apppool_mount_t *mount,
                                                 apppool_request_body_t *body);

/** Get a process; may wait. @return APR_SUCCESS, or that of apl_checkout() */
apr_status_t apppool_app_request_checkout(apppool_app_request_t *req);

/** Give the process back, if there is one. */
void apppool_app_request_checkin(apppool_app_request_t *req);

/** The process refused the connection: detach it. */
void apppool_app_request_detach_refusing(apppool_app_request_t *req);

/** Is its process ending? If so, it is detached. Call this when a connection
 * broke, before another request goes to this process, which may still listen
 * for a moment. @return 1: it is ending */
int apppool_app_request_detach_if_ending(apppool_app_request_t *req);

/** Was its process ended because of a request (AppKillAfter)? */
int apppool_app_request_is_killed(const apppool_app_request_t *req);

/** Was this stream cut off, because its process retires and AppRetireTimeout is
 * over? */
int apppool_app_request_is_cut_off(const apppool_app_request_t *req);

/**
 * Prepare the request for mod_proxy. It looks like the first request of the
 * client's connection, so that a dead app gives 502 and not a closed
 * connection; and it has CGI's values (cgi_variables.h). restore() takes this
 * back; the filter calls it when the response begins.
 */
void apppool_app_request_prepare(apppool_app_request_t *req);
void apppool_app_request_restore(apppool_app_request_t *req);

/** End: only the response is left. */
void apppool_app_request_end(apppool_app_request_t *req);

#endif
