/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "spawner/control/control.h"

#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "shm/view/view.h"
#include "base/privilege.h"
#include "spawner/process/guarded_socket.h"
#include "system/beneath.h"
#include "system/log.h"

#define CLIENTS      16
#define OWN          2 /* maximum places for one user of apps */
#define PATIENCE     (5 * SECOND)
#define WAIT         (2 * STATUS_JOB_LIMIT) /* another one may be made first */
#define USER_BACKLOG 4

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

typedef struct {
    loop_source_t source; /* fd -1: it does not listen */
    int failed;           /* and the log says so */
} listener_t;

typedef struct {
    char at[108]; /* its 0 included: unix(7) */
} socket_path_t;

#define NO_LISTENER                                                            \
    {                                                                          \
        .source = {.fd = -1 }                                                  \
    }

/* ---- a socket that listens: control.sock, or that of a user ----
 *
 * One that cannot be made, on a full disk for example, is logged once. It is
 * tried again each second, and the log says when it is there. The path stays
 * when the spawner dies. The next spawner removes it. */

/* The mode is set before it listens, so no client can connect too early.
 * @return descriptor, or -1 with errno */
static int make_socket(const char *path, uid_t user, int backlog)
{
    struct sockaddr_un at = {.sun_family = AF_UNIX};
    int error,
        fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

    if (fd < 0)
        return -1;
    guarded_socket_begin(fd);
    snprintf(at.sun_path, sizeof at.sun_path, "%s", path);
    unlink(path);
    if (bind(fd, (struct sockaddr *)&at, sizeof at) == 0 &&
        chmod(path, 0600) == 0 &&
        (user == (uid_t)-1 || lchown(path, user, (gid_t)-1) == 0) &&
        listen(fd, backlog) == 0)
        return fd;
    error = errno;
    close(fd);
    errno = error;
    return -1;
}

/* Log once that the socket cannot be made. */
static int listener_failed(listener_t *l, const char *path, int error)
{
    if (!l->failed)
        log_line(LOG_ERROR,
                 "the control socket %s cannot be made: %s; it is tried again "
                 "each second",
                 path, strerror(error));
    l->failed = 1;
    return -1;
}

/* Bind and listen with mode 0600; nothing if it listens already.
 * @param user owner of the socket; (uid_t)-1: the spawner's own user
 * @return 0; -1: not now */
static int listener_open(listener_t *l, const char *path, uid_t user,
                         int backlog, loop_ready_t *accept)
{
    int fd;

    if (l->source.fd >= 0)
        return 0;
    fd = make_socket(path, user, backlog);
    if (fd < 0 || loop_add(&l->source, fd, EPOLLIN, accept, &l->source) != 0)
        return listener_failed(l, path, errno);
    if (l->failed)
        log_line(LOG_NOTICE, "the control socket %s is made", path);
    l->failed = 0;
    return 0;
}

/* ---- the sockets of the users of apps: c/UID, one for each user ----
 *
 * The kernel keeps all other users out. If all users could connect to one
 * socket, any of them could keep the spawner busy. The directory is root's. The
 * user owns the socket and may change its mode, but not remove it. So the
 * spawner also checks which user connects. */

typedef struct usersock {
    struct usersock *next;
    listener_t listener;
    uid_t uid;
    int wanted; /* the new table has this user */
} usersock_t;

static usersock_t *user_sockets;

static void clear_user_sockets(const spawner_t *s)
{
    beneath_remove(s->rt.fd, CONTRACT_USERS);
}

/* @return 0, or -1 with errno */
static int make_directory(const spawner_t *s)
{
    if (mkdirat(s->rt.fd, CONTRACT_USERS, 0711) != 0 && errno != EEXIST)
        return -1;
    return fchmodat(s->rt.fd, CONTRACT_USERS, 0711, 0);
}

static socket_path_t path_of_user(const spawner_t *s, uid_t uid)
{
    socket_path_t path;

    snprintf(path.at, sizeof path.at, "%s/" CONTRACT_USERS "/%u", s->rt.dir,
             (unsigned)uid);
    return path;
}

static usersock_t *find_user_socket(uid_t uid)
{
    usersock_t *u;

    for (u = user_sockets; u && u->uid != uid; u = u->next)
        ;
    return u;
}

static uid_t user_of_socket(const loop_source_t *source)
{
    const usersock_t *u;

    for (u = user_sockets; u && &u->listener.source != source; u = u->next)
        ;
    return u ? u->uid : USERDB_NOBODY;
}

/* @return NULL: there is no memory */
static usersock_t *add_user_socket(uid_t uid)
{
    usersock_t *u = calloc(1, sizeof *u);

    if (!u)
        return NULL;
    u->listener = (listener_t)NO_LISTENER;
    u->uid = uid;
    u->next = user_sockets;
    user_sockets = u;
    return u;
}

/* @return 0; -1: the socket is missing */
static int want_user_socket(const spawner_t *s, uid_t uid, loop_ready_t *accept)
{
    socket_path_t path = path_of_user(s, uid);
    usersock_t *u = find_user_socket(uid);

    if (!u && (u = add_user_socket(uid)) == NULL)
        return -1;
    if (u->wanted) /* by another app, too */
        return u->listener.source.fd >= 0 ? 0 : -1;
    u->wanted = 1;
    if (u->listener.source.fd < 0 && make_directory(s) != 0)
        return listener_failed(&u->listener, path.at, errno);
    return listener_open(&u->listener, path.at, uid, USER_BACKLOG, accept);
}

static void drop_unwanted(const spawner_t *s)
{
    usersock_t **at = &user_sockets, *u;

    while ((u = *at) != NULL) {
        if (u->wanted) {
            u->wanted = 0;
            at = &u->next;
            continue;
        }
        *at = u->next;
        unlink(path_of_user(s, u->uid).at);
        guarded_socket_drop(&u->listener.source);
        free(u);
    }
}

static int configure_user_sockets(const spawner_t *s, loop_ready_t *accept)
{
    int missing = 0;
    uint32_t i;

    for (i = 0; geteuid() == 0 && i < s->table->n; i++) {
        uid_t uid = s->table->apps[i].uid;

        if (uid != 0 && uid != USERDB_NOBODY && uid != s->rt.uid)
            missing |= want_user_socket(s, uid, accept);
    }
    drop_unwanted(s);
    return missing;
}

static listener_t listener = NO_LISTENER;
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
                                     : user_of_socket(from) == user->uid);
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
    socket_path_t path;
    int missing;

    snprintf(path.at, sizeof path.at, "%s/%s", s->rt.dir, CONTRACT_CONTROL);
    missing = listener_open(&listener, path.at, (uid_t)-1, CLIENTS,
                            accept_client) != 0;
    missing |= geteuid() == 0 && lchown(path.at, s->rt.uid, s->rt.gid) != 0;
    missing |= configure_user_sockets(s, accept_client) != 0;
    open_at = missing ? s->now + SECOND : INT64_MAX;
}

void control_begin(spawner_t *s)
{
    int i;

    for (i = 0; i < CLIENTS; i++)
        clients[i].source.fd = -1;
    clear_user_sockets(s);
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
