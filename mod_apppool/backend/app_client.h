/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file app_client.h
 * @brief What sends a request to an app process, and passes on its response:
 *        one interface, which three files implement.
 *
 *     client_http.h     HTTP/1.1
 *     client_cgi.h      FastCGI, scgi and uwsgi
 *     client_proxy.h    HTTP by mod_proxy, for an upgrade
 *
 * request/exchange.c uses it:
 *
 *     client = apppool_client_http_make(r, label, &head);
 *     rv = client->does->open(client, &endpoint, &parked, deadline);
 *     if (rv == APR_SUCCESS)
 *         status = client->does->run(client, &first_byte);
 *     outcome = client->does->outcome(client);
 *     client->does->close(client);
 *
 * run() may return SUSPENDED: the connection has left its worker
 * (pump/suspend.h). Then the rest follows when another worker has it:
 *
 *     status = client->does->resume(client, why);
 *
 * Trust: the app may send any bytes, at any time. Each error is a line of the
 *        log that names the process, and the connection is closed.
 */
#ifndef MOD_APPPOOL_BACKEND_APP_CLIENT_H
#define MOD_APPPOOL_BACKEND_APP_CLIENT_H

#include <httpd.h>

#include "mod_apppool/backend/connect.h"
#include "mod_apppool/backend/first_byte.h"
#include "mod_apppool/backend/parked.h"
#include "mod_apppool/pump/pump.h"

typedef struct apppool_app_client_t apppool_app_client_t;

/** How a request went. */
typedef enum {
    APPPOOL_HEARD,  /**< the app responded, or the request is not repeated */
    APPPOOL_UNSENT, /**< not a byte was sent */
    APPPOOL_BROKEN, /**< the connection broke before a response, and the app may
                       get the request twice */
    APPPOOL_OVERLOADED, /**< the app has too many requests, and says so */
    APPPOOL_ELSEWHERE /**< the app names a path of httpd (Location): httpd is to
                           respond as for that path */
} apppool_outcome_t;

typedef struct {
    /**
     * Connect, or use a connection that was used before. Nothing is read from
     * the client of httpd, and nothing is sent to the app.
     * @param parked   of the request, after apppool_parked_begin()
     * @param deadline us of apl_now(); a full backlog is waited for until then
     * @return APR_SUCCESS; ECONNREFUSED, ENOENT, ECONNRESET: no process listens
     *         there; EAGAIN, over TCP APR_TIMEUP: the backlog stayed full; all
     *         others: problems of httpd itself
     */
    apr_status_t (*open)(apppool_app_client_t *client,
                         const apppool_endpoint_t *endpoint,
                         apppool_parked_t *parked, int64_t deadline);

    /**
     * Send the request, and pass the response to the request's output filters.
     * @return OK; a status to return instead of a response; AP_FILTER_ERROR:
     *         the response has begun and is not complete, or it could not be
     *         passed on; SUSPENDED: resume() will return one of them
     */
    int (*run)(apppool_app_client_t *client,
               const apppool_first_byte_t *first_byte);

    /** Another worker has the connection: go on, and end it. NULL: run() does
     * not return SUSPENDED. */
    int (*resume)(apppool_app_client_t *client, apppool_link_why_t why);

    /** Call it after run(), and before close(). */
    apppool_outcome_t (*outcome)(const apppool_app_client_t *client);

    /** Has the app closed the connection? */
    int (*has_closed)(const apppool_app_client_t *client);

    /** Is the process done with the request, as far as the client knows? It has
     * responded to the end, or has closed the connection. */
    int (*has_ended)(const apppool_app_client_t *client);

    /** Close the connection, or keep it. Later calls do nothing. Call it before
     * the session ends, unless the connection is never kept. */
    void (*close)(apppool_app_client_t *client);
} apppool_app_client_calls_t;

/** The first part of each client. */
struct apppool_app_client_t {
    const apppool_app_client_calls_t *does;
    request_rec *r;
    const char *label; /**< of the app, with the pid in brackets: for the log */
    int socket;        /**< descriptor of the connection, from open() on */
    int may_outlast;   /**< the process may be busy with the request when its
                          response has ended, until has_ended() */
};

/**
 * May the app get the request twice? It may if the request has no body and its
 * method only reads: GET, HEAD or OPTIONS. When a connection breaks, it is not
 * known what the app has read. A reset says that the app has not read
 * everything. It does not say that the app has read nothing.
 * @param has_body 1 also for a HEAD request with a body, although httpd says
 *        that HEAD has none
 */
int apppool_app_client_may_repeat(const request_rec *r, int has_body);

#endif
