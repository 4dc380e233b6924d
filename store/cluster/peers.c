/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "store/cluster/peers.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock_ms.h"
#include "store/cluster/epoch.h"
#include "store/cluster/follower_state.h"
#include "store/cluster/hello.h"
#include "store/cluster/history.h"
#include "store/cluster/store_claim.h"
#include "store/cluster/vip.h"
#include "store/memory/extent.h"
#include "store/memory/region.h"
#include "store/note.h"

/* ---- a talk ---- */

#define BYTES (STORE_WIRE_SMALL_MAX + STORE_WIRE_HELLO_MAX)

typedef struct {
    store_stream_t *stream; /* NULL: there is none */
    int asks;               /* it speaks first */
    unsigned char *hello;   /* of this host */
    size_t size, sent;      /* bytes of it */
    char *heard;            /* of the other one */
    size_t n;               /* bytes of it */
    store_history_t theirs; /* after the end */
    int is_with_master;     /* so is this */
} talk_t;

static void end_talk(talk_t *t)
{
    store_stream_close(t->stream);
    free(t->hello);
    free(t->heard);
    memset(t, 0, sizeof *t);
}

static int is_master(void)
{
    return STORE_GET(store_region_figures()->cluster.role) == STORE_MASTER;
}

/* Begin on a connected socket, which the talk takes.
 * @param asks 1: this host has connected
 * @return 0; -1: errno, and the socket is closed */
static int begin_talk(talk_t *t, const store_cluster_hooks_t *hooks, int fd,
                      int asks)
{
    const store_cluster_t *config = hooks->config;
    store_history_t mine;

    memset(t, 0, sizeof *t);
    t->asks = asks;
    t->stream = store_stream_make(fd, !asks,
                                  config->n_secret > 0 ? config->secret : NULL,
                                  config->n_secret);
    store_history_own(&mine);
    t->hello = store_hello_make(hooks, config->n_secret == 0, &mine,
                                (asks ? STORE_WIRE_ASKS : 0) |
                                    (is_master() ? STORE_WIRE_IS_MASTER : 0),
                                &t->size);
    t->heard = malloc(BYTES);
    if (t->stream && t->hello && t->heard)
        return 0;
    end_talk(t);
    errno = ENOMEM;
    return -1;
}

/* @return 1: all is sent; 0; -1 */
static int say(talk_t *t)
{
    while (t->sent < t->size) {
        ssize_t n = store_stream_write(t->stream, t->hello + t->sent,
                                       t->size - t->sent);

        if (n <= 0)
            return errno == EAGAIN ? 0 : -1;
        t->sent += (size_t)n;
    }
    return 1;
}

/* @return 1: the hello is complete; 0: it is not; -1: it is none */
static int read_hello(talk_t *t)
{
    store_packet_t p;
    const char *key;
    int head = store_wire_head(t->heard, t->n, &p, &key);

    if (head < 0 || (head > 0 && p.opcode != STORE_WIRE_HELLO))
        return -1;
    if (head == 0 || t->n < (size_t)head + p.value)
        return 0;
    if (p.version != STORE_WIRE_VERSION ||
        store_hello_history(t->heard + head, p.value, &t->theirs) != 0)
        return -1;
    t->is_with_master = (p.bits & STORE_WIRE_IS_MASTER) != 0;
    return 1;
}

/* @return as say() */
static int hear(talk_t *t)
{
    int is = read_hello(t);

    while (is == 0) {
        ssize_t n = store_stream_read(t->stream, t->heard + t->n, BYTES - t->n);

        if (n <= 0)
            return n < 0 && errno == EAGAIN ? 0 : -1;
        t->n += (size_t)n;
        is = read_hello(t);
    }
    return is;
}

/* @return 1: the other hello is there, and this one was sent; 0: it waits for
 * store_stream_events(); -1: it has failed */
static int go_on_talking(talk_t *t)
{
    int rv;

    if (store_stream_handshake(t->stream) != 0)
        return errno == EAGAIN ? 0 : -1;
    rv = t->asks ? say(t) : hear(t);
    if (rv <= 0)
        return rv;
    return t->asks ? hear(t) : say(t);
}

/* ---- this host asks ---- */

#define LONGEST 1000 /* ms */

/* A host that is asked. */
typedef struct {
    const store_address_t *peer;
    int fd; /* while it connects; -1 */
    talk_t talk;
} asked_t;

typedef struct {
    const store_cluster_hooks_t *hooks;
    unsigned n;
    asked_t host[STORE_PEERS];
    store_answers_t *answers;
} round_t;

int store_peers_is_one(const store_cluster_t *config,
                       const store_address_t *peer)
{
    return store_address_is_in(config->peer, config->n_peers, peer) &&
           !store_address_equal(peer, &config->vip) &&
           (config->n_secret == 0 ||
            !store_address_is_in(config->plain, config->n_plain, peer));
}

/* ---- one host ---- */

static int is_over(const asked_t *a)
{
    return a->fd < 0 && !a->talk.stream;
}

static void end(asked_t *a)
{
    if (a->fd >= 0)
        close(a->fd);
    a->fd = -1;
    end_talk(&a->talk);
}

static void begin(asked_t *a, const store_cluster_t *config)
{
    a->fd = store_cluster_connect(a->peer, config->port_repl, 0);
}

/* @return -1: nobody is there */
static int connected(asked_t *a, const store_cluster_hooks_t *hooks)
{
    int fd = a->fd;

    if (fd < 0)
        return 0;
    if (store_cluster_connected(fd) != 0)
        return -1;
    a->fd = -1;
    return begin_talk(&a->talk, hooks, fd, 1);
}

static void go_on(round_t *r, asked_t *a)
{
    int rv = connected(a, r->hooks) != 0 ? -1 : go_on_talking(&a->talk);

    if (rv > 0) {
        r->answers->answer[r->answers->n].from = *a->peer;
        r->answers->answer[r->answers->n].is_master = a->talk.is_with_master;
        r->answers->answer[r->answers->n++].history = a->talk.theirs;
    }
    if (rv != 0)
        end(a);
}

/* ---- all of them ---- */

/* @return how many are awaited */
static unsigned watch(round_t *r, struct pollfd *p)
{
    unsigned i, n = 0;

    for (i = 0; i < r->n; i++) {
        const asked_t *a = &r->host[i];

        p[i].fd = a->talk.stream ? store_stream_fd(a->talk.stream) : a->fd;
        p[i].events =
            a->talk.stream ? store_stream_events(a->talk.stream) : POLLOUT;
        p[i].revents = 0;
        n += !is_over(a);
    }
    return n;
}

/* @return 0: the bell has rung, or the time is over */
static int turn(round_t *r, struct pollfd *p, int bell, int64_t until)
{
    int64_t left = until - clock_ms();
    unsigned i;

    p[r->n] = (struct pollfd){bell, POLLIN, 0};
    if (left <= 0 || (poll(p, r->n + 1, (int)left) < 0 && errno != EINTR))
        return 0;
    for (i = 0; i < r->n; i++)
        if (p[i].revents)
            go_on(r, &r->host[i]);
    return !p[r->n].revents;
}

void store_peers_ask(const store_cluster_hooks_t *hooks, int ms, int bell,
                     store_answers_t *answers)
{
    const store_cluster_t *config = hooks->config;
    int64_t until = clock_ms() + ms;
    struct pollfd p[STORE_PEERS + 1];
    round_t *r = calloc(1, sizeof *r);
    unsigned i;

    answers->n = 0;
    if (!r)
        return;
    r->hooks = hooks;
    r->answers = answers;
    for (i = 0; i < config->n_peers; i++) {
        const store_address_t *peer = &config->peer[i];

        if (!store_peers_is_one(config, peer) || store_vip_is_here(peer) == 1)
            continue;
        r->host[r->n] = (asked_t){.peer = peer, .fd = -1};
        begin(&r->host[r->n++], config);
    }
    while (watch(r, p) > 0 && turn(r, p, bell, until))
        continue;
    for (i = 0; i < r->n; i++)
        end(&r->host[i]);
    free(r);
}

/* ---- before the first promotion ---- */

static void note_better(const store_address_t *peer)
{
    static int64_t noted_at; /* the follower's thread */
    char name[STORE_ADDRESS_TEXT];

    if (store_note_is_due(&noted_at, clock_ms()))
        store_note(STORE_NOTICE,
                   "%s has better data than this host, so this host is not "
                   "ready to be the master",
                   store_address_text(peer, name));
}

void store_peers_ask_for_better(const store_cluster_hooks_t *hooks, int bell)
{
    store_answers_t *answers = malloc(sizeof *answers);
    store_history_t mine;
    store_follower_state_t s;
    unsigned i;
    int better = 0;

    store_follower_state(&s);
    if (!answers ||
        (s.complete && !s.keeps && !store_follower_state_is_old(&s))) {
        free(answers);
        return;
    }
    store_peers_ask(hooks, LONGEST, bell, answers);
    store_history_own(&mine);
    for (i = 0; i < answers->n && !better; i++) {
        better = store_epoch_is_better(&answers->answer[i].history, &mine);
        if (better)
            note_better(&answers->answer[i].from);
    }
    store_follower_state_better(better);
    free(answers);
}

/* ---- of a master that begins ---- */

static store_answers_t answers;

void store_peers_ask_as_master(const store_cluster_hooks_t *hooks)
{
    answers.n = 0;
    if (!STORE_GET(store_region_directory()->was_master))
        store_peers_ask(hooks, LONGEST, -1, &answers);
}

void store_peers_hear_answers(void)
{
    char name[STORE_ADDRESS_TEXT];
    store_history_t mine;
    unsigned i;

    store_history_own(&mine);
    for (i = 0; i < answers.n; i++)
        store_claim_hear(&answers.answer[i].history, &mine,
                         store_address_text(&answers.answer[i].from, name), 1);
}

/* ---- this host answers ---- */

#define ASKING_MAX 16
#define LIMIT      3000 /* ms for one of them */

/* A host that asks. */
typedef struct {
    talk_t talk; /* without a stream: this place is free */
    store_address_t from;
    int64_t since; /* ms */
} asking_t;

static struct {
    const store_cluster_hooks_t *hooks;
    int listener;
    int64_t failed_at; /* ms: that it cannot listen was logged; 0: it was not */
    asking_t asking[ASKING_MAX];
} asked = {.listener = -1};

static void end_asking(asking_t *g)
{
    if (!g->talk.stream)
        return;
    asked.hooks->unwatch(store_stream_fd(g->talk.stream));
    end_talk(&g->talk);
}

/* A host that asks says what it has. */
static void hear_claim(const asking_t *g)
{
    char name[STORE_ADDRESS_TEXT];
    store_history_t mine;

    store_history_own(&mine);
    if (is_master())
        store_claim_hear(&g->talk.theirs, &mine,
                         store_address_text(&g->from, name), 1);
}

static void on_asking(void *ctx)
{
    asking_t *g = ctx;
    int rv = go_on_talking(&g->talk);

    if (rv > 0)
        hear_claim(g);
    if (rv != 0)
        end_asking(g);
}

/* How many of its host are there? All places are taken. */
static unsigned beside(const asking_t *one)
{
    const asking_t *g;
    unsigned n = 0;

    for (g = asked.asking; g < asked.asking + ASKING_MAX; g++)
        n += (unsigned)store_address_equal(&g->from, &one->from);
    return n;
}

/* The oldest one of the host that has most of them: a host that connects very
 * often keeps no other one out. */
static asking_t *place(void)
{
    asking_t *chosen = asked.asking, *g;
    unsigned n, most = 0;

    for (g = asked.asking; g < asked.asking + ASKING_MAX; g++)
        if (!g->talk.stream)
            return g;
    for (g = asked.asking; g < asked.asking + ASKING_MAX; g++) {
        n = beside(g);
        if (n < most || (n == most && g->since >= chosen->since))
            continue;
        most = n;
        chosen = g;
    }
    end_asking(chosen);
    return chosen;
}

static void admit(int fd, const store_address_t *from)
{
    asking_t *g = place();

    if (begin_talk(&g->talk, asked.hooks, fd, 0) != 0)
        return;
    g->from = *from;
    g->since = clock_ms();
    if (asked.hooks->watch(fd, on_asking, g) != 0)
        end_talk(&g->talk);
}

static void on_listener(void *ctx)
{
    struct sockaddr_storage from;
    socklen_t size = sizeof from;
    store_address_t address;
    int fd = accept4(asked.listener, (struct sockaddr *)&from, &size,
                     SOCK_NONBLOCK | SOCK_CLOEXEC);

    (void)ctx;
    if (fd < 0) {
        asked.hooks->shortage(asked.listener);
        return;
    }
    store_address_of((struct sockaddr *)&from, &address);
    if (store_peers_is_one(asked.hooks->config, &address))
        admit(fd, &address);
    else
        close(fd);
}

static void note_failure(const store_address_t *peer, int error)
{
    char text[STORE_ADDRESS_TEXT];

    if (store_note_is_due(&asked.failed_at, clock_ms()))
        store_note(STORE_ERROR,
                   "the store cannot listen at %s, port %u, where other hosts "
                   "ask which data it has: %s; it tries again each second",
                   store_address_text(peer, text),
                   asked.hooks->config->port_repl, strerror(error));
}

static void note_success(const store_address_t *peer)
{
    char text[STORE_ADDRESS_TEXT];

    if (asked.failed_at != 0)
        store_note(STORE_NOTICE, "the store listens at %s, port %u now",
                   store_address_text(peer, text),
                   asked.hooks->config->port_repl);
    asked.failed_at = 0;
}

/* The address that is here, if it is the host's own. */
static void listen_at(const store_address_t *peer)
{
    const store_cluster_t *config = asked.hooks->config;

    if (!store_peers_is_one(config, peer) || store_vip_is_here(peer) != 1)
        return;
    asked.listener = store_vip_listen(peer, config->port_repl);
    if (asked.listener < 0) {
        note_failure(peer, errno);
        return;
    }
    if (asked.hooks->watch(asked.listener, on_listener, NULL) == 0) {
        note_success(peer);
        return;
    }
    close(asked.listener);
    asked.listener = -1;
}

int store_peers_is_deaf(void)
{
    return asked.failed_at != 0;
}

void store_peers_begin(const store_cluster_hooks_t *hooks)
{
    memset(&asked, 0, sizeof asked);
    asked.hooks = hooks;
    asked.listener = -1;
    store_peers_tick(clock_ms());
}

void store_peers_tick(int64_t now)
{
    const store_cluster_t *config = asked.hooks->config;
    asking_t *g;
    unsigned i;

    for (i = 0; i < config->n_peers && asked.listener < 0; i++)
        listen_at(&config->peer[i]);
    for (g = asked.asking; g < asked.asking + ASKING_MAX; g++)
        if (g->talk.stream && now - g->since > LIMIT)
            end_asking(g);
}

void store_peers_end(void)
{
    asking_t *g;

    for (g = asked.asking; g < asked.asking + ASKING_MAX; g++)
        end_asking(g);
    if (asked.listener < 0)
        return;
    asked.hooks->unwatch(asked.listener);
    close(asked.listener);
    asked.listener = -1;
}
