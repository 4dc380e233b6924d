/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "mod_apppool/backend/first_byte.h"

#include <linux/sockios.h>
#include <poll.h>
#include <sys/ioctl.h>

#include "shm/lock/lock_token.h"
#include "shm/slots/connection_room.h"

#define SLICE    250  /* ms between two checks of the pool */
#define ACCEPTED 20   /* ms in which a process accepts a connection */
#define ENDED    100  /* ms in which a busy process ends a request */
#define BUSY     1000 /* ms in which a busy process does so */

int apppool_first_byte_is_hopeless(const apppool_first_byte_t *w)
{
    return w->ref->session != 0 && apl_checkout_dying(w->pool, w->ref);
}

int apppool_first_byte_is_cut_off(const apppool_first_byte_t *w)
{
    return w->ref->session != 0 && apl_checkout_closed(w->pool, w->ref);
}

int apppool_first_byte_is_stopped(const apppool_first_byte_t *w)
{
    return w->pool->stopping;
}

/* The process does not read the request. Idle connections may be in its way. */
static void ask_for_room(const apppool_first_byte_t *w)
{
    int unread = 0;

    if (ioctl(w->socket, SIOCOUTQ, &unread) == 0 && unread > 0)
        apl_connection_room_ask(w->pool, w->ref->id, apl_now());
}

/* @return ms until idle connections are suspected */
static int patience(const apppool_first_byte_t *w)
{
    return w->is_unlimited ? ENDED : ACCEPTED;
}

void apppool_first_byte_wait_to_write(const apppool_first_byte_t *w)
{
    struct pollfd app = {w->socket, POLLIN | POLLOUT, 0};

    if (w->needs_room && poll(&app, 1, patience(w)) == 0)
        ask_for_room(w);
}

/* A process that takes any number of requests may read late because it has many
 * of them. Then requests end meanwhile, or no connection is idle. */
static int is_busy(const apppool_first_byte_t *w, int64_t began,
                   uint64_t *ended)
{
    uint64_t now = apl_connection_room_ended(w->pool, w->ref->id);
    int some = now != *ended;

    *ended = now;
    return w->is_unlimited && apl_now() < began + BUSY * 1000 &&
           (some || !apl_connection_room_is_used(w->pool, w->ref->id));
}

apr_status_t apppool_first_byte_wait(const apppool_first_byte_t *w)
{
    struct pollfd app = {w->socket, POLLIN, 0};
    int64_t began = apl_now(), until = began + w->timeout;
    uint64_t ended = apl_connection_room_ended(w->pool, w->ref->id);
    int may_ask = w->needs_room;

    while (poll(&app, 1, may_ask ? patience(w) : SLICE) <= 0) {
        if (may_ask && !is_busy(w, began, &ended)) {
            ask_for_room(w);
            may_ask = 0;
        }
        if (apppool_first_byte_is_hopeless(w))
            return APR_ECONNABORTED;
        if (w->timeout >= 0 && apl_now() >= until)
            return APR_TIMEUP;
    }
    return APR_SUCCESS;
}
