/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "store/cluster/ask.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock_ms.h"
#include "store/cluster/epoch.h"
#include "store/cluster/follower_state.h"
#include "store/cluster/history.h"
#include "store/cluster/talk.h"
#include "store/cluster/vip.h"
#include "store/note.h"

#define LONGEST 1000 /* ms */

/* A host that is asked. */
typedef struct {
    const store_address_t *peer;
    int fd; /* while it connects; -1 */
    store_talk_t talk;
} asked_t;

typedef struct {
    const store_cluster_hooks_t *hooks;
    unsigned n;
    asked_t host[STORE_PEERS];
    store_answers_t *answers;
} round_t;

int store_ask_is_with(const store_cluster_t *config,
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
    store_talk_end(&a->talk);
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
    return store_talk_begin(&a->talk, hooks, fd, 1);
}

static void go_on(round_t *r, asked_t *a)
{
    int rv = connected(a, r->hooks) != 0 ? -1 : store_talk_step(&a->talk);

    if (rv > 0) {
        r->answers->answer[r->answers->n].from = *a->peer;
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

void store_ask(const store_cluster_hooks_t *hooks, int ms, int bell,
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

        if (!store_ask_is_with(config, peer) || store_vip_is_here(peer) == 1)
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

void store_ask_for_better(const store_cluster_hooks_t *hooks, int bell)
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
    store_ask(hooks, LONGEST, bell, answers);
    store_history_own(&mine);
    for (i = 0; i < answers->n && !better; i++) {
        better = store_epoch_is_better(&answers->answer[i].history, &mine);
        if (better)
            note_better(&answers->answer[i].from);
    }
    store_follower_state_better(better);
    free(answers);
}
