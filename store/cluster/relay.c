/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "store/cluster/relay.h"

#include <errno.h>
#include <linux/sockios.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include "base/clock_ms.h"
#include "store/atomic.h"
#include "store/bell.h"
#include "store/cluster/limit.h"
#include "store/event_thread.h"
#include "store/note.h"
#include "store/thread.h"

#define BUFFER  (64 << 10)
#define AT_ONCE 4 /* reads of one pipe; then others have a turn */

/* One end. The descriptor is watched for edges: the flags stay set until a
 * call has returned EAGAIN. */
typedef struct {
    store_stream_t *stream;
    int readable, writable;
    int gone; /* it takes nothing any more: what is for it is dropped */
} end_t;

/* One direction. Zero at the begin. */
typedef struct {
    char *rest; /* NULL: nothing waits */
    size_t at, n_rest;
    uint64_t passed; /* bytes that were read */
    int ended;       /* no more bytes will come */
} direction_t;

/* How long a client is held. */
#define HOLD INT64_C(5000) /* ms */

/* How long a master has for the last commands of a client that has gone. */
#define LAST INT64_C(1000) /* ms */

struct client;

/* The mark of an event: which end of which client. */
typedef struct {
    struct client *client;
    end_t end;
    int ends; /* an event has told of the end of this end's bytes */
} side_t;

typedef struct client {
    store_member_t member; /* of the relay's thread */
    int must_end;          /* it may not use its space any more */
    store_space_t *space;
    side_t local, remote;
    store_relay_master_t master;
    direction_t up, down; /* to the master, from the master */
    int told;             /* the master: no more comes from the client */
    int64_t until;        /* ms: when it is closed; 0: it may stay */
} client_t;

typedef enum {
    IDLE, /* an event or the clock goes on */
    MORE, /* call again after the others */
    OVER  /* free it */
} turn_t;

#define EVENTS 128
#define TICK   INT64_C(100) /* ms: a look at the clients that wait */

static struct {
    const store_cluster_hooks_t *hooks;
    store_event_thread_t thread;
    char *buffer;
    unsigned count;                  /* atomic */
    unsigned count_of[STORE_SPACES]; /* atomic; by slot */
    int look;                        /* atomic: which may stay */
    int is_timed;                    /* a client waits for the clock */
    int64_t tick_at;
} relay;

static client_t *of(store_member_t *m)
{
    return (client_t *)m;
}

/* ---- one direction ---- */

/* @return bytes that the end took; an end that is gone takes all */
static size_t put(end_t *to, const char *from, size_t n)
{
    size_t done = 0;
    ssize_t got;

    while (done < n && to->writable && !to->gone) {
        got = store_stream_write(to->stream, from + done, n - done);
        if (got > 0)
            done += (size_t)got;
        else if (errno == EAGAIN)
            to->writable = 0;
        else
            to->gone = 1;
    }
    return to->gone ? n : done;
}

static void put_rest(direction_t *p, end_t *to)
{
    p->at += put(to, p->rest + p->at, p->n_rest - p->at);
    if (p->at < p->n_rest)
        return;
    free(p->rest);
    p->rest = NULL;
}

static int keep(direction_t *p, const char *from, size_t n)
{
    p->rest = malloc(n);
    if (!p->rest)
        return -1;
    memcpy(p->rest, from, n);
    p->at = 0;
    p->n_rest = n;
    return 0;
}

/* @return bytes; 0: none for now, or no more at all */
static size_t take(direction_t *p, end_t *from, char *buffer)
{
    ssize_t got = store_stream_read(from->stream, buffer, BUFFER);

    if (got > 0) {
        p->passed += (uint64_t)got;
        return (size_t)got;
    }
    from->readable = 0;
    if (got == 0 || errno != EAGAIN)
        p->ended = 1;
    return 0;
}

/* Pass what is there.
 * @param buffer of BUFFER bytes, for the time of the call
 * @return 1: there is more to do now; 0: an event will come; -1: no memory */
static int pass(direction_t *p, end_t *from, end_t *to, char *buffer)
{
    size_t n, done;
    int i;

    for (i = 0; i < AT_ONCE; i++) {
        if (p->rest)
            put_rest(p, to);
        if (p->rest)
            return 0;
        n = p->ended || !from->readable ? 0 : take(p, from, buffer);
        if (n == 0)
            return 0;
        done = put(to, buffer, n);
        if (done < n && keep(p, buffer + done, n - done) != 0)
            return -1;
    }
    return 1;
}

/* Has `from` ended, and has `to` got all of its bytes? */
static int is_over(const direction_t *p)
{
    return p->ended && !p->rest;
}

/* ---- one client ---- */

/* @return NULL: no memory; the stream is closed */
static client_t *make_client(store_space_t *space, store_stream_t *stream,
                             int64_t now)
{
    client_t *c = calloc(1, sizeof *c);

    if (!c) {
        store_stream_close(stream);
        return NULL;
    }
    c->space = space;
    c->local.client = c->remote.client = c;
    c->local.end.stream = stream;
    c->local.end.readable = c->local.end.writable = 1;
    c->until = now + HOLD;
    return c;
}

static int watch(client_t *c, int epoll)
{
    struct epoll_event event = {EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET,
                                {.ptr = &c->local}};

    return epoll_ctl(epoll, EPOLL_CTL_ADD, store_stream_fd(c->local.end.stream),
                     &event);
}

static void leave_master(client_t *c)
{
    store_relay_master_close(&c->master);
    memset(&c->remote.end, 0, sizeof c->remote.end);
}

static void free_client(client_t *c)
{
    leave_master(c);
    store_stream_close(c->local.end.stream);
    free(c->up.rest);
    free(c->down.rest);
    free(c);
}

/* Has it sent nothing to a master? Then this host may serve it. */
static int is_new(const client_t *c)
{
    return c->up.passed == 0 && !c->up.ended;
}

static void note_event(side_t *side, uint32_t events)
{
    side->end.readable = side->end.writable = 1;
    if (events & EPOLLHUP && side == &side->client->local)
        side->ends = 1;
}

/* ---- held ---- */

/* A client that has closed its end may have sent commands before. */
static int is_gone(const client_t *c)
{
    char byte;
    ssize_t n = recv(store_stream_fd(c->local.end.stream), &byte, 1,
                     MSG_PEEK | MSG_DONTWAIT);

    return n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR);
}

static void note_no_master(const client_t *c, int64_t now)
{
    static int64_t noted_at;

    if (store_note_is_due(&noted_at, now))
        store_note(STORE_WARN,
                   "space %s: a client is closed, because no master was "
                   "reached for %d s",
                   c->space->name, (int)(HOLD / 1000));
}

static void join(client_t *c)
{
    c->until = 0;
    c->remote.end.stream = c->master.stream;
    c->remote.end.readable = c->remote.end.writable = 1;
}

static turn_t turn_held(client_t *c, int64_t now)
{
    if (is_gone(c))
        return OVER;
    if (now >= c->until) {
        note_no_master(c, now);
        return OVER;
    }
    if (c->master.stage == STORE_RELAY_NONE && !store_relay_master_is_due(now))
        return IDLE;
    switch (store_relay_master_turn(&c->master, c->space, &c->remote, now)) {
    case STORE_RELAY_REFUSED:
        return OVER;
    case STORE_RELAY_JOINED:
        join(c);
        return MORE;
    default:
        return IDLE;
    }
}

/* ---- joined ---- */

/* The client cannot know that there was a master. */
static turn_t hold_again(client_t *c, int64_t now)
{
    leave_master(c);
    memset(&c->down, 0, sizeof c->down);
    c->until = now + HOLD;
    return IDLE;
}

/* A client may close its writing side, and still read the replies. One that has
 * closed its socket needs none. But the master has to read its last commands,
 * so the end of the master's bytes is awaited. */
static void pass_end(client_t *c, int64_t now)
{
    if (c->local.ends)
        c->local.end.gone = 1;
    if (!is_over(&c->up))
        return;
    if (!c->told)
        shutdown(store_stream_fd(c->remote.end.stream), SHUT_WR);
    c->told = 1;
    if (c->local.end.gone && c->until == 0)
        c->until = now + LAST;
}

/* Has the kernel of the master all that was sent? */
static int has_arrived(const client_t *c)
{
    int unacknowledged;

    return ioctl(store_stream_fd(c->remote.end.stream), SIOCOUTQ,
                 &unacknowledged) != 0 ||
           unacknowledged == 0;
}

/* Its client has gone, and the master may hold the replies for longer than a
 * client waits. The connection would count there until the slaves have
 * confirmed. A reset says that nobody takes a reply. What the master has begun
 * is done all the same; commands behind a reply that it holds may not be.
 * @return 1: nothing is to be done for this client any more */
static int has_told_end(const client_t *c, int64_t now)
{
    const struct linger at_once = {1, 0};

    if (c->until == 0 || now < c->until)
        return 0;
    if (has_arrived(c))
        setsockopt(store_stream_fd(c->remote.end.stream), SOL_SOCKET, SO_LINGER,
                   &at_once, sizeof at_once);
    else if (now < c->until + HOLD)
        return 0;
    return 1;
}

static turn_t turn_joined(client_t *c, char *buffer, int64_t now)
{
    end_t *local = &c->local.end, *remote = &c->remote.end;
    int up = pass(&c->up, local, remote, buffer);
    int down = pass(&c->down, remote, local, buffer);

    if (up < 0 || down < 0 || has_told_end(c, now))
        return OVER;
    pass_end(c, now);
    if (is_over(&c->down))
        return is_new(c) && c->down.passed == 0 ? hold_again(c, now) : OVER;
    return up || down ? MORE : IDLE;
}

/* Do what can be done now. */
static turn_t turn(client_t *c, char *buffer, int64_t now)
{
    if (c->must_end)
        return OVER;
    if (c->master.stage != STORE_RELAY_JOINED)
        return turn_held(c, now);
    return turn_joined(c, buffer, now);
}

/* ---- all clients ---- */

static void count(const store_space_t *space, int change)
{
    unsigned n = __atomic_add_fetch(&relay.count_of[space->slot],
                                    (unsigned)change, __ATOMIC_RELAXED);

    STORE_ADD(relay.count, (unsigned)change);
    STORE_SET(space->figures->connections, n);
}

static void make_ready(client_t *c)
{
    store_event_thread_ready(&relay.thread, &c->member);
}

/* It must not be in the ready list. */
static void end(client_t *c)
{
    store_event_thread_leave(&relay.thread, &c->member);
    count(c->space, -1);
    free_client(c);
}

static void arrive(void *ctx, store_member_t *m)
{
    client_t *c = of(m);

    (void)ctx;
    make_ready(c);
    if (watch(c, relay.thread.epoll) != 0)
        c->must_end = 1;
}

static void take_arrived(void)
{
    store_event_thread_take(&relay.thread, arrive, NULL);
}

/* ---- the thread ---- */

static void look_at_clients(void)
{
    store_member_t *m;

    for (m = relay.thread.all; m; m = m->next) {
        client_t *c = of(m);

        if (relay.hooks->admits(c->space, store_stream_fd(c->local.end.stream)))
            continue;
        c->must_end = 1;
        make_ready(c);
    }
}

static void read_bell(void)
{
    store_bell_read(relay.thread.bell);
    take_arrived();
    if (__atomic_exchange_n(&relay.look, 0, __ATOMIC_ACQUIRE))
        look_at_clients();
}

static void look_at_timed(int64_t now)
{
    store_member_t *m;

    if (store_relay_master_is_back())
        relay.tick_at = now;
    if (!relay.is_timed || now < relay.tick_at)
        return;
    relay.tick_at = now + TICK;
    relay.is_timed = 0;
    for (m = relay.thread.all; m; m = m->next)
        if (of(m)->until != 0) {
            relay.is_timed = 1;
            make_ready(of(m));
        }
}

static void serve_ready(int64_t now)
{
    store_member_t *m = store_event_thread_take_ready(&relay.thread), *next;

    for (; m; m = next) {
        client_t *c = of(m);

        next = store_event_thread_next(m);
        switch (turn(c, relay.buffer, now)) {
        case MORE:
            make_ready(c);
            break;
        case OVER:
            end(c);
            continue;
        case IDLE:
            break;
        }
        relay.is_timed |= c->until != 0;
    }
}

static int wait_ms(void)
{
    int64_t left = relay.tick_at - clock_ms();

    if (relay.thread.first)
        return 0;
    if (!relay.is_timed)
        return -1;
    return left < 0 ? 0 : left > TICK ? (int)TICK : (int)left;
}

static void *run(void *ctx)
{
    struct epoll_event events[EVENTS];
    int i, n;

    (void)ctx;
    while (!store_event_thread_is_stopping(&relay.thread)) {
        n = epoll_wait(relay.thread.epoll, events, EVENTS, wait_ms());
        for (i = 0; i < n; i++) {
            side_t *side = events[i].data.ptr;

            if (!side) {
                read_bell();
                continue;
            }
            note_event(side, events[i].events);
            make_ready(side->client);
        }
        look_at_timed(clock_ms());
        serve_ready(clock_ms());
    }
    take_arrived();
    return NULL;
}

/* ---- for the main thread ---- */

static void release(void)
{
    store_event_thread_close(&relay.thread);
    free(relay.buffer);
    relay.buffer = NULL;
}

int store_relay_begin(const store_cluster_hooks_t *hooks)
{
    int error;

    memset(&relay, 0, sizeof relay);
    relay.hooks = hooks;
    if (store_event_thread_open(&relay.thread) != 0)
        return -1;
    store_relay_master_begin(hooks->config, relay.thread.epoll);
    relay.buffer = malloc(BUFFER);
    if (relay.buffer &&
        store_thread_start(&relay.thread.thread, "relay", run, NULL) == 0)
        return 0;
    error = errno;
    release();
    errno = error;
    return -1;
}

void store_relay_take(store_space_t *space, store_stream_t *stream)
{
    static int64_t refused_at;
    uint64_t n = STORE_GET(relay.count_of[space->slot]);
    client_t *c;

    if (store_limit_refuses(space, n, stream, &refused_at))
        return;
    c = make_client(space, stream, clock_ms());
    if (!c)
        return;
    count(space, 1);
    store_event_thread_give(&relay.thread, &c->member);
}

void store_relay_look(void)
{
    STORE_SET_RELEASE(relay.look, 1);
    store_bell_ring(relay.thread.bell);
}

/* @return its stream; NULL: it cannot be served here */
static store_stream_t *take_back(client_t *c)
{
    store_stream_t *stream = c->local.end.stream;

    if (!is_new(c))
        return NULL;
    c->local.end.stream = NULL;
    return stream;
}

void store_relay_end(void)
{
    store_event_thread_stop(&relay.thread);
    while (relay.thread.all) {
        client_t *c = of(relay.thread.all);
        store_space_t *space = c->space;
        store_stream_t *stream = take_back(c);

        end(c);
        if (stream)
            relay.hooks->serve(space, stream);
    }
    release();
}

unsigned store_relay_count(void)
{
    return STORE_GET(relay.count);
}
