/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "store/server/store_connection.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>

#include "base/clock_ms.h"
#include "store/atomic.h"
#include "store/memory/changes.h"
#include "store/server/password.h"

#define EVENTS ((uint32_t)(EPOLLIN | EPOLLPRI | EPOLLRDHUP) | (uint32_t)EPOLLET)

/* The bytes of one turn. */
typedef struct {
    store_connection_t *c;
    store_bench_t *bench;
    store_reply_t *reply;
    size_t at, end; /* of what is in the buffer and not used */
    size_t left;    /* bytes that may be read */
    unsigned commands;
} turn_t;

/* What is read at once. When no room is left for replies, the connection keeps
 * what was read and not used: no more than this, and the beginning of a
 * line. */
#define READ_BYTES (16 * 1024)

/* Pieces of a value, of 8 KB each, that are read at once. */
#define PLACES     32

/* A login moves the connection inside of a turn. Then its old space may be
 * freed, and another one may have the counters. */
static void count(const turn_t *t, unsigned what, size_t n)
{
    store_count(&t->bench->counters[t->c->served->space->slot], what, n);
}

/* It leaves its space, or those that have to log in. The space may be freed
 * then. */
static void leave(store_connection_t *c, store_served_t *from)
{
    if (c->login_until != 0)
        store_waiting_login_leave(&c->place, from);
    else
        store_spaces_count(from, -1);
}

store_connection_t *store_connection_make(store_served_t *served,
                                          store_stream_t *stream, uid_t uid,
                                          uint8_t login)
{
    store_connection_t *c = calloc(1, sizeof *c);

    if (!c) {
        store_stream_close(stream);
        return NULL;
    }
    c->stream = stream;
    c->served = served;
    c->uid = uid;
    c->login = login;
    if (login == STORE_HAS_TO_LOG_IN) {
        int64_t now = clock_ms();

        c->login_until = now + STORE_LOGIN_TIME;
        store_waiting_login_enter(&c->place, served, store_stream_fd(stream),
                                  now);
    }
    else {
        store_spaces_count(served, 1);
    }
    return c;
}

/* Its space is another one from now on, which counts it already. */
static int move(store_connection_t *c, store_served_t *to)
{
    store_served_t *from = c->served;

    if (!to)
        return 0;
    c->served = to;
    c->uid = 0; /* the password admits, also one that is no user of the space */
    store_dialogue_move(c->dialogue, to->space, &c->counters[to->space->slot]);
    leave(c, from);
    c->login_until = 0;
    return 1;
}

static int log_in(void *ctx, const char *user, size_t n_user,
                  const char *password, size_t n)
{
    return move(ctx, store_password_check(user, n_user, password, n));
}

static const store_login_t logins = {log_in};

/* Each reply that a client takes from a Unix socket would be an EPOLLOUT, so
 * that is wanted only while a reply waits. A TCP socket reports it only after
 * it was full. TLS may have to write before it can read on. */
static uint32_t events_of(const store_connection_t *c, uint8_t awaits_room)
{
    return EVENTS |
           (awaits_room || store_stream_is_tls(c->stream) ? EPOLLOUT : 0);
}

int store_connection_begin(store_connection_t *c, store_bench_t *bench,
                           const store_server_t *server)
{
    struct epoll_event event = {events_of(c, 0), {.ptr = c}};
    store_counters_t *counters = &bench->counters[c->served->space->slot];

    store_count(counters, STORE_CONNECTIONS_TOTAL, 1);
    c->dialogue = store_dialogue_make(c->served->space, counters, server);
    if (!c->dialogue)
        return -1;
    c->counters = bench->counters;
    if (c->login)
        store_dialogue_guard(c->dialogue, &logins, c,
                             c->login == STORE_HAS_TO_LOG_IN);
    /* TLS may have read more than it has given. */
    c->readable = (uint8_t)store_stream_pending(c->stream);
    return epoll_ctl(bench->epoll, EPOLL_CTL_ADD, store_stream_fd(c->stream),
                     &event);
}

void store_connection_event(store_connection_t *c, uint32_t events)
{
    if (events & (uint32_t)(EPOLLIN | EPOLLRDHUP | EPOLLHUP | EPOLLERR) ||
        store_stream_is_tls(c->stream))
        c->readable = 1;
    if (events & (uint32_t)EPOLLPRI)
        c->must_end = 1;
    /* The last bytes and the end may be one event. No other event follows. */
    if (events & (uint32_t)(EPOLLRDHUP | EPOLLHUP | EPOLLERR))
        c->ends = 1;
    if (events & (uint32_t)EPOLLHUP)
        c->has_left = 1;
}

void store_connection_check(store_connection_t *c)
{
    if (!store_spaces_admits(c->served, c->uid))
        c->must_end = 1;
}

void store_connection_free(store_connection_t *c)
{
    if (c->dialogue)
        store_dialogue_free(c->dialogue);
    if (c->reply)
        store_reply_free(c->reply);
    free(c->rest);
    leave(c, c->served);
    store_stream_close(c->stream);
    free(c);
}

/* ---- bytes in ---- */

/* @return bytes; -1: an error */
static ssize_t receive(turn_t *t, struct iovec *iov, unsigned n_iov)
{
    store_connection_t *c = t->c;
    ssize_t got = store_stream_readv(c->stream, iov, n_iov);

    if (got < 0 && errno != EAGAIN)
        return -1;
    if (got == 0)
        c->at_end = 1;
    if (got <= 0 || (store_stream_is_dry(c->stream) && !c->ends))
        c->readable = 0;
    if (got <= 0)
        return 0;
    t->left -= (size_t)got;
    count(t, STORE_BYTES_READ, (size_t)got);
    return got;
}

/* The beginning of an incomplete command moves to the beginning of the
 * buffer. */
static void move_down(turn_t *t)
{
    if (t->at == 0)
        return;
    memmove(t->bench->buffer, t->bench->buffer + t->at, t->end - t->at);
    t->end -= t->at;
    t->at = 0;
}

static size_t least(size_t a, size_t b, size_t c)
{
    size_t n = a < b ? a : b;

    return n < c ? n : c;
}

static int read_more(turn_t *t)
{
    struct iovec iov[PLACES];
    unsigned n = t->at == t->end
                     ? store_dialogue_room(t->c->dialogue, iov, PLACES, t->left)
                     : 0;
    ssize_t got;

    if (n > 0) {
        got = receive(t, iov, n);
        if (got > 0)
            store_dialogue_filled(t->c->dialogue, (size_t)got);
        return got < 0 ? -1 : 0;
    }
    move_down(t);
    iov[0].iov_base = t->bench->buffer + t->end;
    iov[0].iov_len = least(READ_BYTES, STORE_TURN_BYTES - t->end, t->left);
    got = receive(t, iov, 1);
    if (got > 0)
        t->end += (size_t)got;
    return got < 0 ? -1 : 0;
}

static void serve(turn_t *t)
{
    t->at += store_dialogue_input(t->c->dialogue, t->bench->buffer + t->at,
                                  t->end - t->at, t->reply, &t->commands);
}

/* What an earlier turn has left is used first. */
static void take_rest(turn_t *t)
{
    if (!t->c->rest)
        return;
    memcpy(t->bench->buffer, t->c->rest, t->c->n_rest);
    t->end = t->c->n_rest;
    free(t->c->rest);
    t->c->rest = NULL;
    t->c->n_rest = 0;
}

static int keep_rest(turn_t *t)
{
    size_t n = t->end - t->at;

    if (n == 0)
        return 0;
    t->c->rest = malloc(n);
    if (!t->c->rest)
        return -1;
    memcpy(t->c->rest, t->bench->buffer + t->at, n);
    t->c->n_rest = (uint32_t)n;
    return 0;
}

static int may_read(const turn_t *t)
{
    return t->c->readable && !t->c->at_end && t->left > 0 && t->commands > 0 &&
           t->end - t->at < STORE_TURN_BYTES &&
           !store_reply_is_full(t->reply) &&
           !store_dialogue_is_over(t->c->dialogue);
}

/* @return -1: an error */
static int read_and_serve(turn_t *t)
{
    take_rest(t);
    if (t->c->unserved)
        serve(t);
    while (may_read(t)) {
        if (read_more(t) != 0)
            return -1;
        serve(t);
    }
    t->c->unserved = t->commands == 0;
    return store_reply_failed(t->reply) ? -1 : keep_rest(t);
}

/* ---- bytes out ---- */

/* Ask for an event when the client has taken bytes, or no longer. */
static int await_room(const turn_t *t, uint8_t awaits)
{
    store_connection_t *c = t->c;
    struct epoll_event event = {events_of(c, awaits), {.ptr = c}};

    if (c->awaits_room == awaits)
        return 0;
    c->awaits_room = awaits;
    return store_stream_is_tls(c->stream)
               ? 0
               : epoll_ctl(t->bench->epoll, EPOLL_CTL_MOD,
                           store_stream_fd(c->stream), &event);
}

static ssize_t write_to(void *stream, struct iovec *iov, unsigned n)
{
    return store_stream_writev(stream, iov, n);
}

static void spare(store_bench_t *bench, store_reply_t *reply)
{
    if (bench->n_spare < STORE_BENCH_SPARE)
        bench->spare[bench->n_spare++] = reply;
    else
        store_reply_free(reply);
}

void store_bench_end(store_bench_t *bench)
{
    while (bench->n_spare > 0)
        store_reply_free(bench->spare[--bench->n_spare]);
    if (bench->reply)
        store_reply_free(bench->reply);
    bench->reply = NULL;
}

/* A reply that is sent is used again. One that is not belongs to the
 * connection. @return -1: an error */
static int send_reply(turn_t *t)
{
    size_t sent = 0;
    int rv = 0;

    if (store_reply_pending(t->reply) > 0)
        rv = store_reply_send(t->reply, write_to, t->c->stream, &sent);
    count(t, STORE_BYTES_WRITTEN, sent);
    t->c->unsent = rv == EINPROGRESS;
    if (rv == EINPROGRESS)
        return 0;
    if (rv == EAGAIN)
        return await_room(t, 1);
    if (rv != 0)
        return -1;
    if (t->c->reply) {
        spare(t->bench, t->c->reply);
        t->c->reply = t->reply = NULL;
    }
    return await_room(t, 0);
}

static int set_reply(turn_t *t)
{
    t->reply = t->c->reply;
    if (t->reply)
        return 0;
    if (!t->bench->reply)
        t->bench->reply = t->bench->n_spare > 0
                              ? t->bench->spare[--t->bench->n_spare]
                              : store_reply_make();
    t->reply = t->bench->reply;
    return t->reply ? 0 : -1;
}

/* The worker's reply has something left: the connection keeps it. */
static void keep_reply(turn_t *t)
{
    if (t->reply != t->bench->reply)
        return;
    if (store_reply_pending(t->reply) == 0 && !store_reply_failed(t->reply))
        return;
    t->c->reply = t->reply;
    t->bench->reply = NULL;
}

static store_turn_t what_next(const turn_t *t)
{
    const store_connection_t *c = t->c;

    if (c->hold.position)
        return STORE_TURN_HELD;
    if (c->unsent)
        return STORE_TURN_MORE;
    if (c->reply && store_reply_is_full(c->reply))
        return STORE_TURN_IDLE;
    if (store_dialogue_is_over(c->dialogue))
        return c->reply ? STORE_TURN_IDLE : STORE_TURN_OVER;
    if (c->unserved || (c->readable && !c->at_end))
        return STORE_TURN_MORE;
    return c->at_end && !c->reply ? STORE_TURN_OVER : STORE_TURN_IDLE;
}

/* ---- what waits for the slaves ---- */

/* The commands of a turn are done. A write has changed nothing if this thread
 * has added no change. */
static void hold(turn_t *t, uint64_t before, size_t pending)
{
    store_connection_t *c = t->c;
    uint64_t now = store_changes_mine();
    unsigned writes = store_dialogue_writes(c->dialogue);

    c->hold.is_whole = pending == 0;
    c->hold.is_alone = STORE_TURN_COMMANDS - t->commands == 1;
    if (writes == 0 || now == before ||
        STORE_GET(c->served->space->confirm) == STORE_CONFIRM_OFF)
        return;
    c->hold.position = now;
    c->hold.writes = writes;
}

int store_connection_is_confirmed(const store_connection_t *c,
                                  const store_confirmed_t *all)
{
    return c->hold.position <=
           (STORE_GET(c->served->space->confirm) == STORE_CONFIRM_REFUSE
                ? all->strict
                : all->known);
}

/* A client that has given up connects again. If those that it has left behind
 * were kept until the slaves have confirmed, they would soon be as many as the
 * space may have. What is not read yet is done all the same: it may be writes
 * that want no reply. */
static int is_forsaken(const store_connection_t *c)
{
    return c->has_left && !c->unserved && c->n_rest == 0 &&
           !store_stream_has_bytes(c->stream);
}

/* The error is there in place of all replies. If there are several, it is the
 * first one, and the connection ends behind it: which of the commands has not
 * done what it says is not known. If a part of a reply was sent before, the
 * connection ends without an error. */
static void fail(store_connection_t *c)
{
    if (c->reply)
        store_reply_free(c->reply);
    c->reply = c->hold.is_whole ? store_reply_make() : NULL;
    if (c->reply)
        store_dialogue_unconfirmed(c->dialogue, c->reply, c->hold.is_alone);
    else
        c->must_end = 1;
}

/* What was not confirmed is counted. */
void store_connection_release(store_connection_t *c,
                              const store_confirmed_t *all)
{
    const store_space_t *space = c->served->space;
    int refuses = STORE_GET(space->confirm) == STORE_CONFIRM_REFUSE;
    int is_confirmed =
        all->strict != STORE_CONFIRM_NONE && c->hold.position <= all->strict;

    c->hold.position = 0;
    if (is_confirmed)
        return;
    store_count(&c->counters[space->slot],
                refuses ? STORE_NOT_CONFIRMED : STORE_UNCONFIRMED,
                c->hold.writes);
    if (refuses)
        fail(c);
}

store_turn_t store_connection_turn(store_connection_t *c, store_bench_t *bench)
{
    turn_t t = {.c = c,
                .bench = bench,
                .left = STORE_TURN_BYTES,
                .commands = STORE_TURN_COMMANDS};
    uint64_t before = store_changes_mine();
    size_t pending;
    int rv;

    if (STORE_GET(c->served->gone) || c->must_end)
        return STORE_TURN_OVER;
    if (c->hold.position)
        return is_forsaken(c) ? STORE_TURN_OVER : STORE_TURN_IDLE;
    if (set_reply(&t) != 0)
        return STORE_TURN_OVER;
    /* First what is left of the last turn. */
    rv = c->reply ? send_reply(&t) : 0;
    if (rv == 0)
        rv = set_reply(&t);
    pending = rv == 0 ? store_reply_pending(t.reply) : 0;
    if (rv == 0 && !store_reply_is_full(t.reply) &&
        !store_dialogue_is_over(c->dialogue))
        rv = read_and_serve(&t);
    /* One that has failed is over, and is in no list of those that are held. */
    if (rv == 0 && !is_forsaken(c))
        hold(&t, before, pending);
    if (rv == 0 && !c->hold.position && !c->awaits_room && !c->unsent)
        rv = send_reply(&t);
    if (t.reply)
        keep_reply(&t);
    return rv == 0 ? what_next(&t) : STORE_TURN_OVER;
}
