/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file client_socket.h
 * @brief The socket of a client, to wait for it, and to see that it has left.
 */
#ifndef MOD_APPPOOL_BACKEND_CLIENT_SOCKET_H
#define MOD_APPPOOL_BACKEND_CLIENT_SOCKET_H

#include <httpd.h>

/** @return its descriptor; -1: there is none, as for a stream of HTTP/2 */
int apppool_client_socket(conn_rec *c);

#endif
