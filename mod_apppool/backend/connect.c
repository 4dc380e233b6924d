/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "mod_apppool/backend/connect.h"

#include <apr_portable.h>
#include <apr_strings.h>
#include <errno.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>

#include "shm/format/format.h"
#include "shm/lock/lock_token.h"
#include "mod_apppool/config/protocol.h"
#include "base/contract.h"
#include "base/no_descriptors.h"

/* One part of a wait for a place in a full backlog. The kernel wakes one waiter
 * at a time. If that waiter is killed at this moment, the place is free, but no
 * other waiter learns of it. */
#define SLICE       (5 * APR_USEC_PER_SEC)
#define TCP_CONNECT APR_USEC_PER_SEC /* us, at least: the app is on this host */

/* Wait in connect(): the kernel serves its waiters in the order of arrival. A
 * caller that sleeps and tries again loses each free place to a newcomer.
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

/* @param type SOCK_STREAM, and maybe SOCK_NONBLOCK */
static apr_status_t make_unix(apr_socket_t **sock, int type, apr_pool_t *p)
{
    int fd = socket(AF_UNIX, type | SOCK_CLOEXEC, 0);
    apr_os_sock_info_t info = {
        .os_sock = &fd, .family = AF_UNIX, .type = SOCK_STREAM};

    if (fd < 0)
        return errno;
    /* Otherwise an app could send descriptors that make this thread wait in
     * close(). */
    no_descriptors_refuse(fd);
    return apr_os_sock_make(sock, &info, p);
}

/* Connect without waiting. If that fails, connect() can wait afterwards. */
static apr_status_t connect_at_once(apr_socket_t *sock,
                                    const struct sockaddr_un *address)
{
    apr_status_t rv = APR_SUCCESS;
    apr_os_sock_t fd;
    int off = 0;

    apr_os_sock_get(&fd, sock);
    if (connect(fd, (const struct sockaddr *)address, sizeof *address) < 0)
        rv = errno;
    if (rv != APR_SUCCESS)
        ioctl(fd, FIONBIO, &off);
    return rv;
}

apr_status_t apppool_connect_prepare(apr_socket_t **sock, apr_pool_t *p)
{
    return make_unix(sock, SOCK_STREAM | SOCK_NONBLOCK, p);
}

/* Over scgi and uwsgi each request connects, and no other call on its socket
 * waits. Most connections can be made at once, and need no limit of time. */
static apr_status_t open_unix(apr_socket_t **sock,
                              const apppool_endpoint_t *endpoint,
                              int64_t deadline, apr_pool_t *p)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int at_once = apppool_protocol_is_bare(endpoint->wire.protocol);
    apr_status_t rv = APR_SUCCESS;
    int64_t left;

    if (!*sock)
        rv = at_once ? apppool_connect_prepare(sock, p)
                     : make_unix(sock, SOCK_STREAM, p);
    if (rv != APR_SUCCESS)
        return rv;
    apr_snprintf(address.sun_path, sizeof address.sun_path,
                 "%s/" CONTRACT_SOCKETS "/" CONTRACT_ID_FMT, endpoint->runtime,
                 endpoint->id);
    if (at_once) {
        rv = connect_at_once(*sock, &address);
        if (!APR_STATUS_IS_EAGAIN(rv))
            return rv;
    }
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

    if (*sock)
        apr_socket_close(*sock);
    *sock = NULL;
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
    apr_status_t rv = endpoint->wire.listen == APL_LISTEN_TCP
                          ? open_tcp(sock, endpoint, deadline, p)
                          : open_unix(sock, endpoint, deadline, p);

    if (rv != APR_SUCCESS && *sock) {
        apr_socket_close(*sock);
        *sock = NULL;
    }
    return rv;
}
