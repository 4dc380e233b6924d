/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file bare_packet.h
 * @brief With what a request over scgi or uwsgi begins: a packet of variables.
 *        The body follows it as it is.
 *
 * Lock:  none.
 * Crash: not concerned.
 * Trust: see scgi_request.h and uwsgi_request.h.
 */
#ifndef MOD_APPPOOL_BACKEND_BARE_PACKET_H
#define MOD_APPPOOL_BACKEND_BARE_PACKET_H

#include <apr_network_io.h>
#include <apr_tables.h>

/** What can be made of a request before it is known which process gets it. */
typedef struct {
    unsigned char
        *bytes; /**< of the packet, which may be sent more than once */
    apr_size_t size;
    int is_uwsgi;       /**< the response begins with a status line */
    apr_socket_t *sock; /**< for the next connection; NULL: none is prepared */
} apppool_bare_packet_t;

/** Is this variable for the app? The notes for httpd's access log (app_request.c)
 * are not. The packet is made before they are known. */
int apppool_bare_packet_has(const char *name);

/** @return never NULL */
const char *apppool_bare_packet_value(const apr_table_entry_t *pair);

/** @param extra bytes that the format adds to a name and its value
 * @return the bytes that this variable takes in the packet */
apr_size_t apppool_bare_packet_size(const apr_table_entry_t *pair,
                                    apr_size_t extra);

#endif
