/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file uwsgi_request.h
 * @brief Build the packet with which a request over uwsgi begins. The body
 *        follows it unchanged.
 *
 * A packet has a header of four bytes: 0, the size of the rest (2), 0. Then
 * come the variables: length of the name (2), name, length of the value (2),
 * value. Numbers begin with their low byte.
 *
 * Lock:  none.
 * Crash: not concerned.
 * Trust: names and values are the client's, of any length.
 */
#ifndef MOD_APPPOOL_BACKEND_UWSGI_REQUEST_H
#define MOD_APPPOOL_BACKEND_UWSGI_REQUEST_H

#include <apr_tables.h>

#define UWSGI_HEADER 4     /**< bytes */
#define UWSGI_MOST   65535 /**< bytes of variables */

/**
 * @param bytes how many there are
 * @return NULL: the variables need more than UWSGI_MOST bytes
 */
unsigned char *apppool_uwsgi_request_make(apr_pool_t *p,
                                          const apr_table_t *variables,
                                          apr_size_t *bytes);

#endif
