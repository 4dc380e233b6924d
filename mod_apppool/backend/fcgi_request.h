/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file fcgi_request.h
 * @brief Build the records of a FastCGI request.
 *
 * Trust: names and values are the client's, of any length.
 */
#ifndef MOD_APPPOOL_BACKEND_FCGI_REQUEST_H
#define MOD_APPPOOL_BACKEND_FCGI_REQUEST_H

#include <apr_tables.h>

/** What the first record says, and how the request ends. */
typedef struct {
    unsigned request; /**< id */
    int keeps;        /**< the app does not close the connection */
    int ends;         /**< it has no body, so its end follows */
} apppool_fcgi_begin_t;

/**
 * All records up to the end of the parameters.
 *
 * A name and its value are in one record, because php-cgi does not find them
 * otherwise. Only a pair of more than 64 KB is split.
 * @param bytes how many there are
 */
unsigned char *apppool_fcgi_request_make(apr_pool_t *p,
                                         const apr_table_t *parameters,
                                         const apppool_fcgi_begin_t *begin,
                                         apr_size_t *bytes);

/**
 * Write a header.
 * @param type    FCGI_PARAMS ...
 * @param request id
 * @param n       bytes of content, at most FCGI_MOST
 * @return behind it
 */
unsigned char *apppool_fcgi_request_header(unsigned char *at, int type,
                                           unsigned request, apr_size_t n);

#endif
