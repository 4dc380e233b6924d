/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "mod_apppool/backend/parked.h"

#include <apr_strings.h>
#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "shm/lock/lock_token.h"
#include "base/contract.h"
#include "base/parking.h"

/* Per child. */
static struct {
    int sockets
        [PARKING_MAX]; /* constant when threads begin, like all except ids */
    int n;
    const char *runtime; /* directory of the Unix sockets */
    uid_t root;          /* the user that has started httpd */
    uint64_t
        ids[PARKING_MAX]; /* see is_genuine(): the users of the processes */
} parking;

int apppool_parked_init(int lot, const char *runtime, uid_t root)
{
    int n = lot < 0 ? 0 : parking_open(lot, parking.sockets);

    parking.n = n < 0 ? 0 : n;
    parking.runtime = runtime;
    parking.root = root;
    return n < 0 ? -1 : 0;
}

/* ---- is the connection what it should be? ---- */

static int has_name(const struct sockaddr_un *peer, const char *format,
                    uint64_t id)
{
    char path[sizeof peer->sun_path];

    apr_snprintf(path, sizeof path, format, parking.runtime, id);
    return strcmp(path, peer->sun_path) == 0;
}

/* Is it a connection to the socket of this process? Another mount namespace
 * could have a socket of the same name. But the user of httpd's children cannot
 * listen at the real one. Only root or the user of the app can.
 * @param is_own this child has made the connection */
static int is_genuine(int fd, int at, uint64_t id, int is_own)
{
    union {
        struct sockaddr_un name;
        char bytes[sizeof(struct sockaddr_un) + 1];
    } peer;
    struct ucred listener;
    socklen_t name_size = sizeof peer.name, listener_size = sizeof listener;

    memset(&peer, 0, sizeof peer);
    if (getpeername(fd, (struct sockaddr *)&peer.name, &name_size) != 0 ||
        peer.name.sun_family != AF_UNIX ||
        (!has_name(&peer.name, "%s/" CONTRACT_SOCKETS "/" CONTRACT_ID_FMT,
                   id) &&
         !has_name(&peer.name, "%s/" CONTRACT_OWN "/" CONTRACT_ID_FMT "/s",
                   id)) ||
        getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &listener, &listener_size) != 0)
        return 0;
    /* The app may run as the user of httpd. One connection of our own shows
     * that it does. */
    if (is_own)
        parking.ids[at] = id;
    return listener.uid != geteuid() || listener.uid == parking.root ||
           parking.ids[at] == id;
}

/* ---- a request ---- */

/* By the index of the process in its slot array, which begins with 1.
 * @return -1: its connection cannot be parked */
static int place_of(uint64_t id)
{
    int i = (int)(id & 0xffff) - 1;

    return i < parking.n ? i : -1;
}

/* Over other protocols nothing is ever parked, so there is nothing to cut. A
 * look would cost each request a system call. */
static int is_parkable(const apl_wire_t *wire)
{
    return (wire->protocol == APL_HTTP || wire->protocol == APL_FCGI) &&
           wire->listen != APL_LISTEN_TCP;
}

int apppool_parked_begin(apppool_parked_t *shared, const apl_pool_t *pool,
                         const apl_session_ref_t *ref, int may_share,
                         int may_reuse)
{
    int is_alone;

    memset(shared, 0, sizeof *shared);
    shared->id = ref->id;
    shared->place = place_of(ref->id);
    if (shared->place < 0 || !is_parkable(&ref->wire))
        return 0;
    shared->state = apl_connection_state(pool, ref);
    is_alone = apl_connection_is_alone(&shared->state);
    shared->may_share = is_alone && may_share;
    shared->is_held = shared->may_share;
    switch (apl_connection_take(&shared->state, is_alone,
                                shared->may_share && may_reuse, apl_now())) {
    case APL_CONNECTION_IDLE:
        shared->is_taken = 1;
        break;
    case APL_CONNECTION_BUSY:
        shared->is_taken = 1;
        apppool_parked_cut(shared);
        break;
    case APL_CONNECTION_NONE:
        /* After damage a connection may be parked nevertheless. A serial server
         * would then accept no other connection. */
        parking_cut(parking.sockets[shared->place]);
        break;
    default:
        break;
    }
    return shared->is_taken;
}

int apppool_parked_copy(const apppool_parked_t *shared)
{
    int fd = parking_copy(parking.sockets[shared->place]);

    if (fd >= 0 && is_genuine(fd, shared->place, shared->id, 0))
        return fd;
    if (fd >= 0)
        close(fd);
    return -1;
}

int apppool_parked_is_quiet(int connection)
{
    char byte;

    return recv(connection, &byte, 1, MSG_PEEK | MSG_DONTWAIT) < 0 &&
           errno == EAGAIN;
}

void apppool_parked_cut(apppool_parked_t *shared)
{
    if (!shared->is_taken)
        return;
    shared->is_taken = 0;
    /* Not if another session has it by now, after damage. */
    if (!apl_connection_is_held(&shared->state))
        return;
    parking_cut(parking.sockets[shared->place]);
    apl_connection_forget(&shared->state);
}

/* Park a connection that was made for this request. */
static int park(apppool_parked_t *shared, int connection)
{
    if (!is_genuine(connection, shared->place, shared->id, 1) ||
        !apl_connection_begin_parking(&shared->state))
        return 0;
    shared->is_taken = 1;
    return parking_put(parking.sockets[shared->place], connection) == 0;
}

int apppool_parked_end(apppool_parked_t *shared, int connection, int is_clean)
{
    int is_parked = shared->is_held && shared->may_share && is_clean &&
                    (shared->is_taken || park(shared, connection)) &&
                    apl_connection_release(&shared->state, apl_now());

    shared->is_held = 0;
    if (!is_parked) {
        apppool_parked_cut(shared);
        if (connection >= 0)
            shutdown(connection, SHUT_RDWR);
    }
    return is_parked;
}
