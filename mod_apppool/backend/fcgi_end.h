/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file fcgi_end.h
 * @brief The state of a request over FastCGI, scgi or uwsgi, and the ways in
 *        which it ends. Only client_cgi.c, fcgi_end.c and fcgi_wait.c look inside.
 *
 * Each function that ends the request returns what the handler is to return:
 * OK, a status, or AP_FILTER_ERROR (see apppool_client_cgi_run() in client_cgi.h).
 *
 * Lock:  none; it belongs to one request.
 * Crash: all is private memory of the httpd child.
 * Trust: the app may end a request in any way, at any time.
 */
#ifndef MOD_APPPOOL_BACKEND_FCGI_END_H
#define MOD_APPPOOL_BACKEND_FCGI_END_H

#include "mod_apppool/backend/app_connection.h"
#include "mod_apppool/backend/fcgi_parser.h"
#include "mod_apppool/backend/cgi_response.h"
#include "mod_apppool/backend/fcgi_sending.h"
#include "mod_apppool/backend/fcgi_stderr.h"
#include "mod_apppool/backend/first_byte.h"

#define APPPOOL_FCGI_BUFFER (32 * 1024) /* bytes that are read at once */

typedef struct apppool_client_cgi_t {
    request_rec *r;
    const char *label;
    int is_bare; /* scgi, uwsgi: there are no records */
    int local;   /* over a Unix socket */
    apppool_app_connection_t connection;
    apppool_first_byte_t first_byte;
    int64_t began; /* us of apl_now() */
    /* To the app. */
    apppool_fcgi_sending_t sending;
    /* From the app. */
    char *buffer;
    apr_size_t held;    /* bytes in it, not yet looked at (bare) */
    int has_received;   /* the wait for the app has called recv() */
    ssize_t received;   /* what recv() returned then, */
    int received_error; /* and errno */
    int is_complete;    /* the app has sent all, and closed (bare) */
    int has_waited;     /* for more of them */
    apppool_fcgi_parser_t parser;
    apppool_cgi_response_t response;
    apppool_fcgi_stderr_t err;
    int heard;  /* at least one byte */
    int begun;  /* a record of this request */
    int stray;  /* a rest of another request came */
    int reset;  /* the connection was reset */
    int closed; /* by the app */
} apppool_client_cgi_t;

/** Had the connection carried another request, and has the app taken no more? */
int apppool_fcgi_end_is_lost(const apppool_client_cgi_t *fcgi);

/** The connection is parked or closed: apppool_client_cgi_close(). */
void apppool_fcgi_end_use(apppool_client_cgi_t *fcgi);

/** The response is complete. A slow client may take its time, and the app waits
 * for the next request, or for the end of the connection. */
int apppool_fcgi_end_response(apppool_client_cgi_t *fcgi);

/** No more will come, and there was no END_REQUEST.
 * @param status if no part of the response was passed on */
int apppool_fcgi_end_early(apppool_client_cgi_t *fcgi, int status);

/** The app was silent for too long, or it is being killed.
 * @param status as above */
int apppool_fcgi_end_silent(apppool_client_cgi_t *fcgi, int status);

/** The app has closed the connection, or it is broken.
 * @param error 0: closed */
int apppool_fcgi_end_connection(apppool_client_cgi_t *fcgi, int error);

/** The app has sent END_REQUEST. */
int apppool_fcgi_end_request(apppool_client_cgi_t *fcgi);

/** What comes is not FastCGI. */
int apppool_fcgi_end_wrong(apppool_client_cgi_t *fcgi);

/** The same, before anything of this response. */
int apppool_fcgi_end_stray(apppool_client_cgi_t *fcgi);

#endif
