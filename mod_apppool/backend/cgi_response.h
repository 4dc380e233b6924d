/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file cgi_response.h
 * @brief What an app sends over scgi and uwsgi, or as STDOUT over FastCGI,
 *        becomes the response of the request: a header as of CGI (or
 *        uwsgi_head.h), and a body.
 *
 * Over FastCGI, Content-Length does not count: a record marks the end, and
 * httpd counts the length. If an administrator sets the variable
 * ap_trust_cgilike_cl, Content-Length counts, and body/response_check.h
 * compares it with the body.
 *
 * Over scgi, a header of Location with a path, and no other status, is no
 * response: httpd is to look for the response there (RFC 3875, section 6.2.2).
 *
 * Trust: the bytes are the app's. httpd reads the header.
 */
#ifndef MOD_APPPOOL_BACKEND_CGI_RESPONSE_H
#define MOD_APPPOOL_BACKEND_CGI_RESPONSE_H

#include <httpd.h>

#include "mod_apppool/backend/response_parts.h"

/** The caller sets the first three; the rest is zeroed. */
typedef struct {
    const char *label; /**< of the app, with the pid in brackets */
    int is_bare;       /**< scgi or uwsgi: Content-Length counts */
    int is_uwsgi;      /**< it begins with a status line */
    int is_elsewhere;  /**< scgi: httpd is to respond as for another path of its
                          own, which Location names */
    apr_bucket_brigade *head; /**< the header, so far */
    apr_size_t head_size;
    int is_in_line; /**< of the header; at its beginning: 0 */
    int has_header;
    apppool_response_parts_t parts; /**< the body */
} apppool_cgi_response_t;

/**
 * The next bytes.
 * @param bytes stay where they are until apppool_response_parts_pass()
 * @return OK; HTTP_BAD_GATEWAY: this is no header, and the log says so
 */
int apppool_cgi_response_add(apppool_cgi_response_t *response, request_rec *r,
                             const char *bytes, apr_size_t n);

/** The app pauses. Send the client everything that has come so far.
 * @return OK, or AP_FILTER_ERROR */
int apppool_cgi_response_flush(apppool_cgi_response_t *response,
                               request_rec *r);

/**
 * The app has sent everything. Pass on the rest and the end.
 * @return what the handler is to return: OK; the status that is overridden;
 *         AP_FILTER_ERROR; HTTP_BAD_GATEWAY: there was no header. If the
 *         response is elsewhere, OK, and nothing was passed on
 */
int apppool_cgi_response_end(apppool_cgi_response_t *response, request_rec *r);

#endif
