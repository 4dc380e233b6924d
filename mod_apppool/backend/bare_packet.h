/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file bare_packet.h
 * @brief With what a request over scgi or uwsgi begins: a packet of variables.
 *        The body follows it as it is.
 *
 * Over scgi it is a netstring: the length of what it holds, a colon, the
 * variables, a comma. Each variable is a name and a value, with a zero byte
 * after both. CONTENT_LENGTH is the first one, and the second one says which
 * protocol it is:
 *
 *     24:CONTENT_LENGTH 0 27 0 SCGI 0 1 0,
 *
 * Over uwsgi it has a header of four bytes: 0, the size of the rest (2), 0.
 * Then come the variables: length of the name (2), name, length of the value
 * (2), value. Numbers begin with their low byte.
 *
 * The notes for httpd's access log (request/app_request.c) are no variables for
 * the app. The packet is made before they are known.
 *
 * Trust: names and values are the client's, of any length.
 */
#ifndef MOD_APPPOOL_BACKEND_BARE_PACKET_H
#define MOD_APPPOOL_BACKEND_BARE_PACKET_H

#include <apr_network_io.h>
#include <apr_tables.h>

#define UWSGI_HEADER 4     /**< bytes */
#define UWSGI_MOST   65535 /**< bytes of variables */

/** What can be made of a request before it is known which process gets it. */
typedef struct {
    unsigned char *bytes; /**< which may be sent more than once */
    apr_size_t size;
    int is_uwsgi;       /**< the response begins with a status line */
    apr_socket_t *sock; /**< for the next connection; NULL: none is prepared */
} apppool_bare_packet_t;

/** @param bytes how many there are */
unsigned char *apppool_bare_packet_scgi(apr_pool_t *p,
                                        const apr_table_t *variables,
                                        apr_size_t *bytes);

/**
 * @param bytes how many there are
 * @return NULL: the variables need more than UWSGI_MOST bytes
 */
unsigned char *apppool_bare_packet_uwsgi(apr_pool_t *p,
                                         const apr_table_t *variables,
                                         apr_size_t *bytes);

#endif
