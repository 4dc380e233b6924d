/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "spawner/control/control.h"

#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "shm/view/report.h"
#include "spawner/control/status_job.h"
#include "base/privilege.h"
#include "spawner/process/guarded_socket.h"
#include "spawner/control/listener.h"
#include "spawner/control/user_sockets.h"
#include "spawner/control/command_list.h"

#define CLIENTS  16
#define OWN      2 /* maximum places for one user of apps */
#define PATIENCE (5 * SECOND)
#define WAIT     (2 * STATUS_JOB_LIMIT) /* another response may be made first */

typedef struct {
    loop_source_t source;
    int64_t until; /* us: drop the client then; 0: the place is free */
    command_client_t user;
    char line[CONTRACT_COMMAND_MAX];
    size_t length;
    status_job_order_t order; /* the response it waits for; make NULL: none */
    int begun;                /* a helper job makes that now */
    char *response;           /* NULL: not there yet */
    size_t size, sent;
} client_t;

static listener_t listener = LISTENER_NONE;
static int64_t open_at = INT64_MAX; /* us: a socket is missing; try then */
static client_t clients[CLIENTS];

static void drop(client_t *c)
{
    guarded_socket_drop(&c->source);
    free(c->response);
    memset(c, 0, sizeof *c);
    c->source.fd = -1;
}

/* If the user is not known, the client may do nothing. */
static command_client_t user_of(const spawner_t *s, int fd)
{
    struct ucred peer;
    socklen_t length = sizeof peer;
    command_client_t user = {.uid = USERDB_NOBODY};

    if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &length) != 0)
        return user;
    user.uid = peer.uid;
    user.is_root = peer.uid == 0 || peer.uid == geteuid();
    user.is_httpd = peer.uid == s->rt.uid;
    return user;
}

/* ---- clients ---- */

static void send_response(client_t *c)
{
    ssize_t n = send(c->source.fd, c->response + c->sent, c->size - c->sent,
                     MSG_NOSIGNAL | MSG_DONTWAIT);

    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    if (n > 0)
        c->sent += (size_t)n;
    if (n < 0 || c->sent == c->size)
        drop(c);
}

/* @param text NULL: there is no memory */
static void respond(client_t *c, const char *text, size_t size)
{
    c->order.make = NULL;
    c->begun = 0;
    c->response = text ? malloc(size) : NULL;
    if (!c->response) {
        drop(c);
        return;
    }
    memcpy(c->response, text, size);
    c->size = size;
    c->until = state_spawner()->now + PATIENCE;
    loop_change(&c->source, EPOLLOUT);
    send_response(c);
}

static void respond_object(client_t *c, json_t *o)
{
    char *text = o ? json_dumps(o, JSON_INDENT(1) | APL_REPORT_REALS) : NULL;

    json_decref(o);
    respond(c, text, text ? strlen(text) : 0);
    free(text);
}

/* Handle a complete line. */
static void take_command(client_t *c, size_t length)
{
    spawner_t *s = state_spawner();
    json_t *o = command_list_run(s, c->line, length, &c->user, &c->order);

    if (!c->order.make) {
        respond_object(c, o);
        return;
    }
    c->until = s->now + WAIT;
    loop_change(&c->source, 0); /* only to learn that it hangs up */
    state_wake(s, s->now);
}

static void receive(client_t *c)
{
    int sent;
    ssize_t n = guarded_socket_recv(c->source.fd, c->line + c->length,
                                    sizeof c->line - c->length, &sent);
    char *end;

    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    if (n <= 0 || sent) {
        drop(c);
        return;
    }
    c->length += (size_t)n;
    end = memchr(c->line, '\n', c->length);
    if (end)
        take_command(c, (size_t)(end - c->line));
    else if (c->length == sizeof c->line)
        respond_object(c, command_error("the command is too long"));
}

static void client_ready(void *owner, uint32_t events)
{
    client_t *c = owner;

    (void)events;
    if (c->response)
        send_response(c);
    else if (c->order.make)
        drop(c); /* it has hung up */
    else
        receive(c);
}

/* A client of a lower rank loses its place first. */
static int rank(const command_client_t *user)
{
    return user->is_root ? 2 : user->is_httpd;
}

/* @return the oldest place of a user of apps who has the maximum number of
 * places; else NULL */
static client_t *find_own(const command_client_t *user)
{
    client_t *c, *oldest = NULL;
    int n = 0;

    if (rank(user) > 0)
        return NULL;
    for (c = clients; c < clients + CLIENTS; c++) {
        if (c->until == 0 || c->user.uid != user->uid)
            continue;
        n++;
        if (!oldest || c->until < oldest->until)
            oldest = c;
    }
    return n < OWN ? NULL : oldest;
}

/* @return a free place; else the oldest place of the lowest rank. So neither a
 * child of httpd nor an app can keep root out */
static client_t *find_place(const command_client_t *user)
{
    client_t *c, *best = find_own(user);

    if (best)
        return best;
    best = clients;
    for (c = clients; c < clients + CLIENTS && best->until != 0; c++)
        if (c->until == 0 || rank(&c->user) < rank(&best->user) ||
            (rank(&c->user) == rank(&best->user) && c->until < best->until))
            best = c;
    return best;
}

/* The owner of a socket can open it to everybody. So its mode does not say who
 * may connect. */
static int is_welcome(const loop_source_t *from, const command_client_t *user)
{
    return user->is_root ||
           (from == &listener.source ? user->is_httpd
                                     : user_sockets_owner(from) == user->uid);
}

static void accept_client(void *owner, uint32_t events)
{
    const loop_source_t *from = owner;
    const spawner_t *s = state_spawner();
    command_client_t user;
    client_t *c;
    int fd = accept4(from->fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);

    (void)events;
    if (fd < 0)
        return;
    guarded_socket_begin(fd);
    user = user_of(s, fd);
    if (!is_welcome(from, &user)) {
        guarded_socket_close(fd);
        return;
    }
    c = find_place(&user);
    drop(c);
    c->until = s->now + PATIENCE;
    c->user = user;
    if (loop_add(&c->source, fd, EPOLLIN, client_ready, c) != 0)
        c->until = 0;
}

/* ---- responses that take time ---- */

static void give(spawner_t *s, const char *text, size_t size)
{
    client_t *c;

    (void)s;
    for (c = clients; c < clients + CLIENTS; c++)
        if (c->begun && text)
            respond(c, text, size);
        else if (c->begun)
            respond_object(c, command_error("the response could not be made"));
}

/* @return the client of the highest rank that has waited longest; NULL: none
 * waits. A client of a lower rank waits longer */
static client_t *find_waiting(void)
{
    client_t *c, *first = NULL;

    for (c = clients; c < clients + CLIENTS; c++)
        if (c->order.make && !c->begun &&
            (!first || rank(&c->user) > rank(&first->user) ||
             (rank(&c->user) == rank(&first->user) && c->until < first->until)))
            first = c;
    return first;
}

/* All clients that wait for the same response get it. */
static void begin_next(spawner_t *s)
{
    const client_t *first = find_waiting();
    int begun = first ? status_job_begin(s, &first->order, give) : 0;
    client_t *c;

    if (begun == 0)
        return;
    for (c = clients; c < clients + CLIENTS; c++)
        c->begun |= memcmp(&c->order, &first->order, sizeof first->order) == 0;
    if (begun < 0)
        give(s, NULL, 0);
}

/* ---- the sockets ---- */

void control_configure(spawner_t *s)
{
    char path[LISTENER_PATH];
    int missing;

    snprintf(path, sizeof path, "%s/%s", s->rt.dir, CONTRACT_CONTROL);
    missing =
        listener_open(&listener, path, (uid_t)-1, CLIENTS, accept_client) != 0;
    missing |= geteuid() == 0 && lchown(path, s->rt.uid, s->rt.gid) != 0;
    missing |= user_sockets_configure(s, accept_client) != 0;
    open_at = missing ? s->now + SECOND : INT64_MAX;
}

void control_begin(spawner_t *s)
{
    int i;

    for (i = 0; i < CLIENTS; i++)
        clients[i].source.fd = -1;
    user_sockets_begin(s);
    control_configure(s);
}

/* ---- the loop ---- */

void control_tick(spawner_t *s)
{
    client_t *c;

    for (c = clients; c < clients + CLIENTS; c++) {
        if (c->until != 0 && c->until <= s->now)
            drop(c);
        else if (c->until != 0)
            state_wake(s, c->until);
    }
    begin_next(s);
    if (s->stopping)
        return;
    if (s->now >= open_at)
        control_configure(s);
    state_wake(s, open_at);
}
