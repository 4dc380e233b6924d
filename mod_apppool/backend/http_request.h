/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file http_request.h
 * @brief Build what is sent to an app over HTTP: the request line and the
 *        header. mod_proxy makes the header, so ProxyAddHeaders, ProxyVia,
 *        ProxyPreserveHost and its hook `fixups' count as they always do.
 *
 * Lock:  none; constant once a child has begun.
 * Trust: httpd has checked the lines of the client.
 */
#ifndef MOD_APPPOOL_BACKEND_HTTP_REQUEST_H
#define MOD_APPPOOL_BACKEND_HTTP_REQUEST_H

#include <httpd.h>

/** What can be made of a request before it is known which process gets it. */
typedef struct {
    char *bytes; /**< all but the header Connection and the empty line */
    apr_size_t size;
    int closes;          /**< the connection is not to be used again */
    int is_chunked;      /**< its body comes in chunks */
    const char *upgrade; /**< the protocol that it asks for; NULL: none. The
                              caller sets it before */
} apppool_http_request_t;

/** To be called in each httpd child. @param p has to outlive all requests */
void apppool_http_request_init(apr_pool_t *p);

/** The port of this server as Via shows it: ":8080", or "" for the usual
 * one. */
char *apppool_http_request_port(request_rec *r);

/**
 * @param url  as proxy_run_canon_handler() left it, without "proxy:"
 * @param body bytes of the body; 0: there is none; -1: it comes in chunks
 * @return OK, or a status to return to the client
 */
int apppool_http_request_make(apppool_http_request_t *request, request_rec *r,
                              const char *url, apr_off_t body);

#endif
