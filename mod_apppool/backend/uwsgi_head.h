/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file uwsgi_head.h
 * @brief The header of a response over uwsgi begins as over HTTP. This turns it
 *        into the header of a CGI response, which httpd reads:
 *
 *     HTTP/1.1 404 Not Found      becomes     Status: 404 Not Found
 *
 * Trust: the app may send any bytes.
 */
#ifndef MOD_APPPOOL_BACKEND_UWSGI_HEAD_H
#define MOD_APPPOOL_BACKEND_UWSGI_HEAD_H

#include <apr_buckets.h>

/**
 * @param head the header, with the empty line behind it; it is replaced
 * @param p    of the request
 * @return NULL: it is converted; or what is wrong with it: a text for the log
 */
const char *apppool_uwsgi_head_convert(apr_bucket_brigade *head, apr_pool_t *p);

#endif
