/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "store/cluster/master.h"

#include <errno.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/clock_ms.h"
#include "store/cluster/feeder.h"
#include "store/cluster/backoff.h"
#include "store/memory/changes.h"
#include "store/memory/region.h"
#include "store/note.h"

#define AT_ONCE 64 /* then other events have a turn */
#define LOOK    5  /* ms from one look at a drain to the next */

static const store_cluster_hooks_t *hooks;
static int listener = -1;
static store_feeder_t *feeder[STORE_SLAVES];
static uint64_t arrivals;
static store_backoff_t backoff;
static int64_t stranger_at; /* ms: the last line about one; 0: none */

/* Peers from which a connection came that did not join. */
static struct {
    store_address_t address;
    int64_t at; /* ms: of the last line about it; 0: this place is free */
} unjoined[2 * STORE_PEERS];

_Static_assert(STORE_SLAVES == STORE_FIGURES_SLAVES, "each has its figures");

/* ---- slaves that have ended ---- */

static int has_slaves(void)
{
    unsigned i;

    for (i = 0; i < STORE_SLAVES; i++)
        if (feeder[i])
            return 1;
    return 0;
}

/* Without a reader the list is memory that nobody needs. */
static void close_unread(void)
{
    if (!has_slaves())
        store_changes_close();
}

/* Where the last line about it is noted. There is room for all: no other
 * address is let in. */
static int64_t *line_about(const store_address_t *address)
{
    unsigned i = 0;

    while (i < 2 * STORE_PEERS - 1 && unjoined[i].at != 0 &&
           !store_address_equal(&unjoined[i].address, address))
        i++;
    unjoined[i].address = *address;
    return &unjoined[i].at;
}

static void note_refusal(const store_feeder_t *f)
{
    const store_address_t *address = &store_feeder_slave(f)->address;
    const char *why = store_feeder_refusal(f);
    char text[STORE_ADDRESS_TEXT];

    if (why && store_note_is_due(line_about(address), clock_ms()))
        store_note(STORE_WARN, "a connection from %s gets no copy: %s",
                   store_address_text(address, text), why);
}

/* The threads are joined at once, as they have ended. */
static void reap(void)
{
    unsigned i, n = 0, dropped = 0;

    for (i = 0; i < STORE_SLAVES; i++) {
        if (!feeder[i] || !store_feeder_is_over(feeder[i]))
            continue;
        dropped += (unsigned)store_feeder_has_joined(feeder[i]);
        note_refusal(feeder[i]);
        if (store_feeder_is_overtaken(feeder[i]))
            store_backoff_add(&backoff, &store_feeder_slave(feeder[i])->address,
                              clock_ms());
        store_feeder_end(feeder[i]);
        feeder[i] = NULL;
        n++;
    }
    STORE_ADD(store_region_figures()->cluster.dropped, dropped);
    if (n > 0)
        close_unread();
}

/* ---- slaves that come ---- */

static void refuse_stranger(const store_address_t *address)
{
    char text[STORE_ADDRESS_TEXT];

    if (store_note_is_due(&stranger_at, clock_ms()))
        store_note(STORE_WARN,
                   "%s may not have a copy of the store: it is not in "
                   "AppStorePeers or AppStorePlainPeers",
                   store_address_text(address, text));
}

static unsigned free_slot(void)
{
    unsigned i;

    for (i = 0; i < STORE_SLAVES && feeder[i]; i++)
        ;
    return i;
}

static int is_plain(const store_address_t *address)
{
    const store_cluster_t *config = hooks->config;

    return store_address_is_in(config->plain, config->n_plain, address);
}

/* It will have to know the secret. */
static int is_peer(const store_address_t *address)
{
    const store_cluster_t *config = hooks->config;

    return config->n_secret > 0 &&
           store_address_is_in(config->peer, config->n_peers, address);
}

/* How many of its host have not joined; 0: it has. All places are taken. */
static unsigned unjoined_beside(unsigned place)
{
    unsigned i, n = 0;

    for (i = 0; i < STORE_SLAVES && !store_feeder_has_joined(feeder[place]);
         i++)
        n += (unsigned)(!store_feeder_has_joined(feeder[i]) &&
                        store_address_equal(
                            &store_feeder_slave(feeder[i])->address,
                            &store_feeder_slave(feeder[place])->address));
    return n;
}

/* The oldest one of the host that has most of them: a host that connects very
 * often takes no place of another host.
 * @return its place; STORE_SLAVES: all have joined */
static unsigned oldest_unjoined(void)
{
    unsigned i, n, oldest = STORE_SLAVES, most = 1;
    uint64_t number = UINT64_MAX;

    for (i = 0; i < STORE_SLAVES; i++) {
        n = unjoined_beside(i);
        if (n < most ||
            (n == most && store_feeder_slave(feeder[i])->number >= number))
            continue;
        most = n;
        number = store_feeder_slave(feeder[i])->number;
        oldest = i;
    }
    return oldest;
}

/* Each user of a peer's host can connect and say nothing. So a connection
 * that has not joined has no right to its place. @return 0: all have joined */
static int make_room(void)
{
    unsigned i;

    if (free_slot() < STORE_SLAVES)
        return 1;
    i = oldest_unjoined();
    if (i == STORE_SLAVES)
        return 0;
    store_feeder_end(feeder[i]);
    feeder[i] = NULL;
    return 1;
}

/* May this one be fed? */
static int is_welcome(const store_address_t *address)
{
    if (!is_plain(address) && !is_peer(address)) {
        refuse_stranger(address);
        return 0;
    }
    return store_backoff_is_over(&backoff, address, clock_ms()) && make_room();
}

/* Small packets are not held back for larger ones. */
static void admit(const store_address_t *address, int fd)
{
    store_slave_t slave = {.slot = free_slot(),
                           .address = *address,
                           .number = ++arrivals,
                           .has_secret = !is_plain(address)};
    char text[STORE_ADDRESS_TEXT];

    store_cluster_set_options(fd, 0);
    if (store_changes_open(hooks->config->changes) != 0) {
        close(fd);
        errno = ENOMEM;
    }
    else
        feeder[slave.slot] = store_feeder_start(hooks, &slave, fd);
    if (feeder[slave.slot])
        return;
    store_note(STORE_ERROR, "slave %s cannot be fed: %s",
               store_address_text(address, text), strerror(errno));
    close_unread();
}

static void take_slaves(void *ctx)
{
    struct sockaddr_storage from;
    store_address_t address;
    socklen_t size;
    int i, fd;

    (void)ctx;
    reap();
    for (i = 0; i < AT_ONCE; i++) {
        size = sizeof from;
        fd = accept4(listener, (struct sockaddr *)&from, &size,
                     SOCK_NONBLOCK | SOCK_CLOEXEC);
        if (fd < 0) {
            hooks->shortage(listener);
            return;
        }
        store_address_of((struct sockaddr *)&from, &address);
        if (is_welcome(&address))
            admit(&address, fd);
        else
            close(fd);
    }
}

/* ---- the role's ---- */

int store_master_begin(const store_cluster_hooks_t *of, int fd)
{
    hooks = of;
    listener = fd;
    stranger_at = 0;
    memset(&backoff, 0, sizeof backoff);
    memset(unjoined, 0, sizeof unjoined);
    store_changes_close();
    return hooks->watch(fd, take_slaves, NULL);
}

void store_master_tick(int64_t now)
{
    unsigned i;

    (void)now;
    reap();
    store_changes_ring();
    for (i = 0; i < STORE_SLAVES; i++)
        if (feeder[i])
            store_feeder_count(feeder[i]);
    STORE_SET(store_region_figures()->cluster.unsent, store_changes_unsent());
}

typedef struct {
    int slaves, copying, behind;
} count_t;

/* @return 1: all slaves have all changes, or there is none */
static int is_drained(count_t *n)
{
    unsigned i;

    memset(n, 0, sizeof *n);
    for (i = 0; i < STORE_SLAVES; i++) {
        if (!feeder[i] || store_feeder_is_over(feeder[i]))
            continue;
        n->slaves++;
        if (!store_feeder_is_complete(feeder[i]))
            n->copying++;
        else if (!store_feeder_is_drained(feeder[i]))
            n->behind++;
    }
    return n->copying + n->behind == 0;
}

const char *store_master_drain(int ms)
{
    const struct timespec look = {0, LOOK * 1000000L};
    int64_t until = clock_ms() + ms;
    count_t n;

    store_changes_ring();
    while (!is_drained(&n) && clock_ms() < until)
        nanosleep(&look, NULL);
    if (n.slaves == 0) {
        store_note(STORE_NOTICE, "no slave is there to get the changes");
        return "no slave is there to get the changes";
    }
    if (n.copying + n.behind == 0)
        return NULL;
    store_note(STORE_WARN,
               "slaves that have not got all changes in %d ms: %d; slaves that "
               "still take their copy: %d",
               ms, n.behind, n.copying);
    return n.behind > 0 ? "a slave has not taken all changes in time"
                        : "a slave still takes its copy";
}

void store_master_end(void)
{
    unsigned i;

    if (listener < 0)
        return;
    hooks->unwatch(listener);
    listener = -1;
    for (i = 0; i < STORE_SLAVES; i++) {
        store_feeder_end(feeder[i]);
        feeder[i] = NULL;
    }
    store_changes_close();
}
