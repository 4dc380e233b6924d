/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file fcgi_request.h
 * @brief Build the records of a FastCGI request.
 *
 * Lock:  none.
 * Crash: not concerned.
 * Trust: names and values are the client's, of any length.
 */
#ifndef MOD_APPPOOL_BACKEND_FCGI_REQUEST_H
#define MOD_APPPOOL_BACKEND_FCGI_REQUEST_H

#include <apr_tables.h>

/**
 * All records up to the end of the parameters.
 *
 * A name and its value stand in one record, as php-cgi does not find them
 * otherwise. Only a pair of more than 64 KB is split.
 * @param ends  the request has no body, so its end follows
 * @param bytes how many there are
 */
unsigned char *apppool_fcgi_request_make(apr_pool_t *p,
                                         const apr_table_t *parameters,
                                         int ends, apr_size_t *bytes);

/**
 * Write a header.
 * @param type FCGI_PARAMS ...
 * @param n    bytes of content, at most FCGI_MOST
 * @return behind it
 */
unsigned char *apppool_fcgi_request_header(unsigned char *at, int type,
                                           apr_size_t n);

#endif
