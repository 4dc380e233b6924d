/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file scgi_request.h
 * @brief Build the packet with which a request over SCGI begins. The body
 *        follows it unchanged.
 *
 * A packet is a netstring: the length of what it holds, a colon, the variables,
 * a comma. Each variable is a name and a value, with a zero byte after both.
 * CONTENT_LENGTH is the first one, and the second one says which protocol it
 * is:
 *
 *     24:CONTENT_LENGTH 0 27 0 SCGI 0 1 0,
 *
 * Lock:  none.
 * Crash: not concerned.
 * Trust: names and values are the client's, of any length.
 */
#ifndef MOD_APPPOOL_BACKEND_SCGI_REQUEST_H
#define MOD_APPPOOL_BACKEND_SCGI_REQUEST_H

#include <apr_tables.h>

/** @param bytes how many there are */
unsigned char *apppool_scgi_request_make(apr_pool_t *p,
                                         const apr_table_t *variables,
                                         apr_size_t *bytes);

#endif
