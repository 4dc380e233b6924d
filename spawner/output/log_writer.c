/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "spawner/output/output.h"
#include "base/clock_ms.h"
#include "base/contract.h"
#include "base/heartbeat.h"
#include "system/child_reset.h"
#include "system/log.h"
#include "base/userdb.h"

#define ROOM       (1 << 20)     /* bytes that wait in the socket */
#define SAY_PAUSE  (10 * SECOND) /* between two lines about one file */
#define TRY_PAUSE  SECOND        /* between two children for one file */
#define LINGER     (5 * SECOND)  /* without users, until the child ends */
#define STOP_PAUSE 10            /* ms between two looks at the children */

struct writer {
    log_writer_t *next;
    char *route;
    int raw;
    uid_t uid;
    gid_t gid;
    unsigned users; /* processes of apps */
    int64_t idle;   /* us: when the last user left it */
    int fd;         /* to the child; -1 */
    int input;      /* the child's end; -1 */
    pid_t pid;      /* of the child, until it is reaped; 0 */
    int64_t again;  /* us: no other child before that */
    uint64_t dropped;
    int64_t say; /* us: dropped lines are not logged before that */
};

static log_writer_t *writers;

static log_writer_t *find(const char *route, int raw, uid_t uid, gid_t gid)
{
    log_writer_t *w;

    for (w = writers; w; w = w->next)
        if (w->uid == uid && w->gid == gid && w->raw == raw &&
            strcmp(w->route, route) == 0)
            break;
    return w;
}

static log_writer_t *make(const char *route, int raw, uid_t uid, gid_t gid)
{
    log_writer_t *w = calloc(1, sizeof *w);

    if (!w)
        return NULL;
    w->route = strdup(route);
    if (!w->route) {
        free(w);
        return NULL;
    }
    w->raw = raw;
    w->uid = uid;
    w->gid = gid;
    w->fd = w->input = -1;
    w->next = writers;
    writers = w;
    return w;
}

int log_writer_can_send(const char *route, uid_t uid)
{
    return *route != '/' || uid != USERDB_NOBODY;
}

log_writer_t *log_writer_get(const char *route, int raw, uid_t uid, gid_t gid)
{
    log_writer_t *w;

    /* Only a file is opened as the app's user. */
    if (*route != '/')
        uid = gid = 0;
    w = find(route, raw, uid, gid);
    if (!w)
        w = make(route, raw, uid, gid);
    if (w)
        w->users++;
    return w;
}

static void close_one(int *fd)
{
    if (*fd >= 0)
        close(*fd);
    *fd = -1;
}

/* The child stays for a while, because a process that died usually has a
 * successor that prints its first lines. */
void log_writer_put(log_writer_t *w)
{
    spawner_t *s = state_spawner();

    if (!w || --w->users > 0)
        return;
    w->idle = s->now;
    state_wake(s, w->idle + LINGER);
}

/* ---- the socket ---- */

/* Both ends stay open. So what a child that died has not read waits for the
 * next one. */
static int open_socket(log_writer_t *w)
{
    int ends[2], room = ROOM;

    if (w->fd >= 0)
        return 0;
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0)
        return -1;
    if (setsockopt(ends[0], SOL_SOCKET, SO_SNDBUFFORCE, &room, sizeof room) !=
        0)
        setsockopt(ends[0], SOL_SOCKET, SO_SNDBUF, &room, sizeof room);
    w->fd = ends[0];
    w->input = ends[1];
    return 0;
}

/* poll() would find a message, too, when only the other end is closed. */
static int has_unread(const log_writer_t *w)
{
    char c;

    return recv(w->input, &c, 1, MSG_PEEK | MSG_DONTWAIT) > 0;
}

/* Take what no child will read any more. */
static void drop_unread(log_writer_t *w)
{
    static char lines[LOG_PROGRAM_MAX];
    ssize_t n;

    while (w->input >= 0 &&
           (n = recv(w->input, lines, sizeof lines, MSG_DONTWAIT)) > 0)
        w->dropped += log_count(lines, (size_t)n);
}

/* ---- the child ---- */

static _Noreturn void become(const spawner_t *s, const log_writer_t *w)
{
    char program[32], uid[16], gid[16];
    char *argv[] = {CONTRACT_LOG_PROGRAM,
                    LOG_PROGRAM_WORD,
                    strdup(s->rt.dir),
                    uid,
                    gid,
                    w->route,
                    w->raw ? LOG_PROGRAM_RAW : LOG_PROGRAM_PREFIXED,
                    NULL};
    sigset_t reload;

    setsid();
    child_reset_signals();
    /* SIGHUP would end the child before it has set a handler. */
    sigemptyset(&reload);
    sigaddset(&reload, SIGHUP);
    sigprocmask(SIG_BLOCK, &reload, NULL);
    if (dup2(w->input, STDIN_FILENO) < 0)
        _exit(1);
    snprintf(uid, sizeof uid, "%u", (unsigned)w->uid);
    snprintf(gid, sizeof gid, "%u", (unsigned)w->gid);
    child_reset_descriptors(CONTRACT_PROGRAM_FD);
    fcntl(CONTRACT_PROGRAM_FD, F_SETFD, 0);
    snprintf(program, sizeof program, "/proc/self/fd/%d", CONTRACT_PROGRAM_FD);
    execv(program, argv);
    _exit(1);
}

/* There is only one child at a time, so a disk that blocks costs one
 * process. */
static void start(const spawner_t *s, log_writer_t *w)
{
    if (w->pid != 0 || s->now < w->again)
        return;
    w->again = s->now + TRY_PAUSE;
    w->pid = fork();
    if (w->pid == 0)
        become(s, w);
    if (w->pid < 0)
        w->pid = 0;
}

void log_writer_send(log_writer_t *w, const char *lines, size_t length,
                     unsigned n)
{
    if (open_socket(w) != 0 ||
        send(w->fd, lines, length, MSG_DONTWAIT | MSG_NOSIGNAL) < 0)
        w->dropped += n;
    else
        start(state_spawner(), w);
}

void log_writer_reap(pid_t pid)
{
    log_writer_t *w;

    for (w = writers; w; w = w->next)
        if (w->pid == pid)
            w->pid = 0;
}

/* ---- from time to time ---- */

static void say_dropped(const spawner_t *s, log_writer_t *w)
{
    log_name_t name;

    if (w->dropped == 0 || s->now < w->say)
        return;
    log_line(LOG_WARN, "%s is not written fast enough: %llu lines dropped",
             log_rules_name(w->route, name), (unsigned long long)w->dropped);
    w->dropped = 0;
    w->say = s->now + SAY_PAUSE;
}

/* The last child is reaped, or will be reaped in another turn of the loop. */
static void go_on(spawner_t *s, log_writer_t *w)
{
    if (w->pid != 0 || !has_unread(w))
        return;
    start(s, w);
    if (w->pid == 0)
        state_wake(s, w->again);
}

/* If a child dies, only these ends have what it has not read. */
static void end_idle(spawner_t *s, log_writer_t *w)
{
    if (w->users > 0 || w->fd < 0)
        return;
    if (s->now < w->idle + LINGER)
        state_wake(s, w->idle + LINGER);
    else if (has_unread(w))
        state_wake(s, s->now + LINGER);
    else {
        close_one(&w->fd);
        close_one(&w->input);
    }
}

void log_writer_tick(spawner_t *s)
{
    log_writer_t **at = &writers, *w;

    while ((w = *at) != NULL) {
        go_on(s, w);
        say_dropped(s, w);
        end_idle(s, w);
        if (w->users == 0 && w->pid == 0 && w->dropped == 0 && w->fd < 0) {
            *at = w->next;
            free(w->route);
            free(w);
        }
        else
            at = &w->next;
    }
}

void log_writer_reload(void)
{
    const log_writer_t *w;

    for (w = writers; w; w = w->next)
        if (*w->route == LOG_PROGRAM_PIPE && w->pid > 0)
            kill(w->pid, SIGHUP);
}

/* @return 1: a child runs */
static int is_left(log_writer_t *w)
{
    if (w->pid != 0 && waitpid(w->pid, NULL, WNOHANG) != 0)
        w->pid = 0;
    go_on(state_spawner(), w);
    return w->pid != 0;
}

void log_writer_stop(int ms)
{
    int64_t now = clock_ms(), took = 0;
    log_writer_t *w;
    int left;

    for (w = writers; w; w = w->next) {
        w->again = w->say = 0;
        go_on(state_spawner(), w);
        close_one(&w->fd);
    }
    do {
        heartbeat();
        left = 0;
        for (w = writers; w; w = w->next)
            left |= is_left(w);
        if (left)
            poll(NULL, 0, STOP_PAUSE);
        took += clock_ms_turn(&now, LOG_TURN);
    } while (left && took < ms);
    for (w = writers; w; w = w->next) {
        if (w->pid != 0)
            kill(w->pid, SIGKILL); /* it ends as soon as its disk responds */
        drop_unread(w);
        close_one(&w->input);
        say_dropped(state_spawner(), w);
    }
}
