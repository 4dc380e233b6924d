/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "mod_apppool/backend/client_socket.h"

#include <apr_portable.h>
#include <http_core.h>

int apppool_client_socket(conn_rec *c)
{
    apr_socket_t *sock = c->master ? NULL : ap_get_conn_socket(c);
    apr_os_sock_t fd = -1;

    return sock && apr_os_sock_get(&fd, sock) == APR_SUCCESS ? fd : -1;
}
