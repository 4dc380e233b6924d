/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "store/cluster/relay_client.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include "store/note.h"

store_relay_client_t *store_relay_client_make(store_space_t *space,
                                              store_stream_t *stream,
                                              int64_t now)
{
    store_relay_client_t *c = calloc(1, sizeof *c);

    if (!c) {
        store_stream_close(stream);
        return NULL;
    }
    c->space = space;
    c->local.client = c->remote.client = c;
    c->local.end.stream = stream;
    c->local.end.readable = c->local.end.writable = 1;
    c->until = now + STORE_RELAY_HOLD;
    return c;
}

int store_relay_client_watch(store_relay_client_t *c, int epoll)
{
    struct epoll_event event = {EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET,
                                {.ptr = &c->local}};

    return epoll_ctl(epoll, EPOLL_CTL_ADD, store_stream_fd(c->local.end.stream),
                     &event);
}

static void leave_master(store_relay_client_t *c)
{
    store_relay_master_close(&c->master);
    memset(&c->remote.end, 0, sizeof c->remote.end);
}

void store_relay_client_free(store_relay_client_t *c)
{
    leave_master(c);
    store_stream_close(c->local.end.stream);
    free(c->up.rest);
    free(c->down.rest);
    free(c);
}

int store_relay_client_is_new(const store_relay_client_t *c)
{
    return c->up.passed == 0 && !c->up.ended;
}

void store_relay_client_event(store_relay_side_t *side, uint32_t events)
{
    side->end.readable = side->end.writable = 1;
    if (events & EPOLLHUP && side == &side->client->local)
        side->ends = 1;
}

/* ---- held ---- */

/* A client that has closed its end may have sent commands before. */
static int is_gone(const store_relay_client_t *c)
{
    char byte;
    ssize_t n = recv(store_stream_fd(c->local.end.stream), &byte, 1,
                     MSG_PEEK | MSG_DONTWAIT);

    return n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR);
}

static void note_no_master(const store_relay_client_t *c, int64_t now)
{
    static int64_t noted_at;

    if (store_note_is_due(&noted_at, now))
        store_note(STORE_WARN,
                   "space %s: a client is closed, because no master was "
                   "reached for %d s",
                   c->space->name, (int)(STORE_RELAY_HOLD / 1000));
}

static void join(store_relay_client_t *c)
{
    c->until = 0;
    c->remote.end.stream = c->master.stream;
    c->remote.end.readable = c->remote.end.writable = 1;
}

static store_relay_turn_t turn_held(store_relay_client_t *c, int64_t now)
{
    if (is_gone(c))
        return STORE_RELAY_OVER;
    if (now >= c->until) {
        note_no_master(c, now);
        return STORE_RELAY_OVER;
    }
    if (c->master.stage == STORE_RELAY_NONE && !store_relay_master_is_due(now))
        return STORE_RELAY_IDLE;
    switch (store_relay_master_turn(&c->master, c->space, &c->remote, now)) {
    case STORE_RELAY_REFUSED:
        return STORE_RELAY_OVER;
    case STORE_RELAY_JOINED:
        join(c);
        return STORE_RELAY_MORE;
    default:
        return STORE_RELAY_IDLE;
    }
}

/* ---- joined ---- */

/* The client cannot know that there was a master. */
static store_relay_turn_t hold_again(store_relay_client_t *c, int64_t now)
{
    leave_master(c);
    memset(&c->down, 0, sizeof c->down);
    c->until = now + STORE_RELAY_HOLD;
    return STORE_RELAY_IDLE;
}

/* A client may close its writing side, and still read the replies. One that has
 * closed its socket needs none. But the master has to read its last commands,
 * so the end of the master's bytes is awaited. */
static void pass_end(store_relay_client_t *c, int64_t now)
{
    if (c->local.ends)
        c->local.end.gone = 1;
    if (!store_relay_pipe_is_over(&c->up))
        return;
    if (!c->told)
        shutdown(store_stream_fd(c->remote.end.stream), SHUT_WR);
    c->told = 1;
    if (c->local.end.gone && c->until == 0)
        c->until = now + STORE_RELAY_HOLD;
}

static store_relay_turn_t turn_joined(store_relay_client_t *c, char *buffer,
                                      int64_t now)
{
    store_relay_end_t *local = &c->local.end, *remote = &c->remote.end;
    int up = store_relay_pipe_turn(&c->up, local, remote, buffer);
    int down = store_relay_pipe_turn(&c->down, remote, local, buffer);

    if (up < 0 || down < 0 || (c->until != 0 && now >= c->until))
        return STORE_RELAY_OVER;
    pass_end(c, now);
    if (store_relay_pipe_is_over(&c->down))
        return store_relay_client_is_new(c) && c->down.passed == 0
                   ? hold_again(c, now)
                   : STORE_RELAY_OVER;
    return up || down ? STORE_RELAY_MORE : STORE_RELAY_IDLE;
}

store_relay_turn_t store_relay_client_turn(store_relay_client_t *c,
                                           char *buffer, int64_t now)
{
    if (c->must_end)
        return STORE_RELAY_OVER;
    if (c->master.stage != STORE_RELAY_JOINED)
        return turn_held(c, now);
    return turn_joined(c, buffer, now);
}
