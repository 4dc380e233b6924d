/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "mod_apppool/backend/connect.h"

#include <apr_portable.h>
#include <apr_strings.h>
#include <errno.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>

#include "shm/format/format.h"
#include "shm/lock/lock_token.h"
#include "spawner/shared/contract.h"
#include "spawner/shared/no_descriptors.h"

/* Of a wait for a place in a full backlog. The kernel wakes one waiter at a
 * time. If that one is killed at this moment, the place is free and no waiter
 * knows. */
#define SLICE       (5 * APR_USEC_PER_SEC)
#define TCP_CONNECT APR_USEC_PER_SEC /* us, at least; it is on this host */

/* Wait in connect(): the kernel lets those who wait in, in their order of
 * arrival. To sleep and try again would lose each free place to a newcomer.
 * @param us to wait, then EAGAIN */
static apr_status_t connect_unix(apr_socket_t *sock,
                                 const struct sockaddr_un *address, int64_t us)
{
    int64_t some = us > 0 ? us : 1; /* 0 means no limit */
    struct timeval limit = {some / APR_USEC_PER_SEC, some % APR_USEC_PER_SEC};
    apr_os_sock_t fd;

    apr_os_sock_get(&fd, sock);
    if (setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit) < 0 ||
        connect(fd, (const struct sockaddr *)address, sizeof *address) < 0)
        return errno;
    return APR_SUCCESS;
}

static apr_status_t open_unix(apr_socket_t **sock,
                              const apppool_endpoint_t *endpoint,
                              int64_t deadline, apr_pool_t *p)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    apr_status_t rv = apr_socket_create(sock, AF_UNIX, SOCK_STREAM, 0, p);
    apr_os_sock_t fd;
    int64_t left;

    if (rv != APR_SUCCESS)
        return rv;
    /* An app must not be able to make this thread wait in a close(), by
     * descriptors that it sends. */
    apr_os_sock_get(&fd, *sock);
    no_descriptors_refuse(fd);
    apr_snprintf(address.sun_path, sizeof address.sun_path,
                 "%s/" CONTRACT_SOCKETS "/" CONTRACT_ID_FMT, endpoint->runtime,
                 endpoint->id);
    do {
        left = deadline - apl_now();
        rv = connect_unix(*sock, &address, left < SLICE ? left : SLICE);
    } while (APR_STATUS_IS_EINTR(rv) ||
             (APR_STATUS_IS_EAGAIN(rv) && apl_now() < deadline));
    return rv;
}

static apr_status_t open_tcp(apr_socket_t **sock,
                             const apppool_endpoint_t *endpoint,
                             int64_t deadline, apr_pool_t *p)
{
    int64_t left = deadline - apl_now();
    apr_sockaddr_t *address;
    apr_status_t rv = apr_sockaddr_info_get(
        &address, "127.0.0.1", APR_INET, (apr_port_t)endpoint->wire.port, 0, p);

    if (rv == APR_SUCCESS)
        rv = apr_socket_create(sock, APR_INET, SOCK_STREAM, APR_PROTO_TCP, p);
    if (rv != APR_SUCCESS)
        return rv;
    apr_socket_opt_set(*sock, APR_TCP_NODELAY, 1);
    apr_socket_timeout_set(*sock, left > TCP_CONNECT ? left : TCP_CONNECT);
    return apr_socket_connect(*sock, address);
}

apr_status_t apppool_connect(apr_socket_t **sock,
                             const apppool_endpoint_t *endpoint,
                             int64_t deadline, apr_pool_t *p)
{
    apr_status_t rv;

    *sock = NULL;
    rv = endpoint->wire.listen == APL_LISTEN_TCP
             ? open_tcp(sock, endpoint, deadline, p)
             : open_unix(sock, endpoint, deadline, p);
    if (rv != APR_SUCCESS && *sock) {
        apr_socket_close(*sock);
        *sock = NULL;
    }
    return rv;
}
