/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "mod_apppool/dial.h"

#include <apr_portable.h>
#include <apr_strings.h>
#include <errno.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "mod_apppool/lifecycle.h"
#include "shm/format.h"
#include "shm/held.h"
#include "spawner/contract.h"

#define NAP_FIRST   1000             /* us */
#define NAP_LAST    50000            /* us */
#define TCP_CONNECT APR_USEC_PER_SEC /* us; it is on this host */

static void name_path(const apppool_target_t *target, char *path, size_t size)
{
    if (target->wire.listen == APL_LISTEN_UNIX)
        apr_snprintf(path, size, "%s/" CONTRACT_OWN "/" CONTRACT_ID_FMT "/s",
                     apppool_runtime(), target->id);
    else
        apr_snprintf(path, size, "%s/" CONTRACT_SOCKETS "/" CONTRACT_ID_FMT,
                     apppool_runtime(), target->id);
}

/* The socket does not block: a full backlog is EAGAIN at once. */
static apr_status_t connect_unix(apr_socket_t *sock,
                                 const struct sockaddr_un *address)
{
    apr_os_sock_t fd;
    int got;

    apr_os_sock_get(&fd, sock);
    do
        got = connect(fd, (const struct sockaddr *)address, sizeof *address);
    while (got < 0 && errno == EINTR);
    return got == 0 ? APR_SUCCESS : errno;
}

static apr_status_t dial_unix(apr_socket_t **sock,
                              const apppool_target_t *target, int64_t deadline,
                              apr_pool_t *p)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    apr_interval_time_t nap = NAP_FIRST;
    apr_status_t rv = apr_socket_create(sock, AF_UNIX, SOCK_STREAM, 0, p);

    if (rv != APR_SUCCESS)
        return rv;
    apr_socket_timeout_set(*sock, target->timeout);
    name_path(target, address.sun_path, sizeof address.sun_path);
    while (APR_STATUS_IS_EAGAIN(rv = connect_unix(*sock, &address)) &&
           apl_now() + nap < deadline) {
        apr_sleep(nap);
        nap = nap * 2 < NAP_LAST ? nap * 2 : NAP_LAST;
    }
    return rv;
}

static apr_status_t dial_tcp(apr_socket_t **sock,
                             const apppool_target_t *target, apr_pool_t *p)
{
    apr_sockaddr_t *address;
    apr_status_t rv = apr_sockaddr_info_get(
        &address, "127.0.0.1", APR_INET, (apr_port_t)target->wire.port, 0, p);

    if (rv == APR_SUCCESS)
        rv = apr_socket_create(sock, APR_INET, SOCK_STREAM, APR_PROTO_TCP, p);
    if (rv != APR_SUCCESS)
        return rv;
    apr_socket_opt_set(*sock, APR_TCP_NODELAY, 1);
    apr_socket_timeout_set(*sock, TCP_CONNECT);
    return apr_socket_connect(*sock, address);
}

apr_status_t apppool_dial(apr_socket_t **sock, const apppool_target_t *target,
                          int64_t deadline, apr_pool_t *p)
{
    apr_status_t rv;

    *sock = NULL;
    rv = target->wire.listen == APL_LISTEN_TCP
             ? dial_tcp(sock, target, p)
             : dial_unix(sock, target, deadline, p);
    if (rv != APR_SUCCESS && *sock) {
        apr_socket_close(*sock);
        *sock = NULL;
    }
    return rv;
}
