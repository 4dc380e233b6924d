/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "store/cluster/asked.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock_ms.h"
#include "store/cluster/ask.h"
#include "store/cluster/store_claim.h"
#include "store/cluster/history.h"
#include "store/cluster/talk.h"
#include "store/cluster/vip.h"
#include "store/memory/extent.h"
#include "store/memory/region.h"
#include "store/note.h"

#define GUESTS 16
#define LIMIT  3000 /* ms for one of them */

/* A host that asks. */
typedef struct {
    store_talk_t talk; /* without a stream: this place is free */
    store_address_t from;
    int64_t since; /* ms */
} guest_t;

static struct {
    const store_cluster_hooks_t *hooks;
    int listener;
    int64_t failed_at; /* ms: that it cannot listen was logged; 0: it was not */
    guest_t guest[GUESTS];
} asked = {.listener = -1};

static void end(guest_t *g)
{
    if (!g->talk.stream)
        return;
    asked.hooks->unwatch(store_stream_fd(g->talk.stream));
    store_talk_end(&g->talk);
}

/* Who asks says what it has. */
static void hear_claim(const guest_t *g)
{
    char name[STORE_ADDRESS_TEXT];
    store_history_t mine;

    store_history_own(&mine);
    if (STORE_GET(store_region_figures()->cluster.role) == STORE_MASTER)
        store_claim_hear(&g->talk.theirs, &mine,
                         store_address_text(&g->from, name), 1);
}

static void on_guest(void *ctx)
{
    guest_t *g = ctx;
    int rv = store_talk_step(&g->talk);

    if (rv > 0)
        hear_claim(g);
    if (rv != 0)
        end(g);
}

static guest_t *place(void)
{
    guest_t *oldest = &asked.guest[0], *g;

    for (g = asked.guest; g < asked.guest + GUESTS; g++) {
        if (!g->talk.stream)
            return g;
        if (g->since < oldest->since)
            oldest = g;
    }
    end(oldest);
    return oldest;
}

static void admit(int fd, const store_address_t *from)
{
    guest_t *g = place();

    if (store_talk_begin(&g->talk, asked.hooks, fd, 0) != 0)
        return;
    g->from = *from;
    g->since = clock_ms();
    if (asked.hooks->watch(fd, on_guest, g) != 0)
        store_talk_end(&g->talk);
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
    if (store_ask_is_with(asked.hooks->config, &address))
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

    if (!store_ask_is_with(config, peer) || store_vip_is_here(peer) != 1)
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

int store_asked_is_deaf(void)
{
    return asked.failed_at != 0;
}

void store_asked_begin(const store_cluster_hooks_t *hooks)
{
    memset(&asked, 0, sizeof asked);
    asked.hooks = hooks;
    asked.listener = -1;
    store_asked_tick(clock_ms());
}

void store_asked_tick(int64_t now)
{
    const store_cluster_t *config = asked.hooks->config;
    guest_t *g;
    unsigned i;

    for (i = 0; i < config->n_peers && asked.listener < 0; i++)
        listen_at(&config->peer[i]);
    for (g = asked.guest; g < asked.guest + GUESTS; g++)
        if (g->talk.stream && now - g->since > LIMIT)
            end(g);
}

void store_asked_end(void)
{
    guest_t *g;

    for (g = asked.guest; g < asked.guest + GUESTS; g++)
        end(g);
    if (asked.listener < 0)
        return;
    asked.hooks->unwatch(asked.listener);
    close(asked.listener);
    asked.listener = -1;
}
