/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "store/cluster/feeder.h"

#include <errno.h>
#include <inttypes.h>
#include <linux/sockios.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include "base/clock_ms.h"
#include "store/atomic.h"
#include "store/bell.h"
#include "store/cluster/store_claim.h"
#include "store/cluster/confirm.h"
#include "store/cluster/sender.h"
#include "store/cluster/hello.h"
#include "store/cluster/history.h"
#include "store/cluster/lru_touches.h"
#include "store/memory/region.h"
#include "store/memory/space.h"
#include "store/note.h"
#include "store/thread.h"

#define BATCHES 64   /* of changes, before the copy goes on */
#define PAUSE   1000 /* ms from one look at the slave to the next */
#define SOON    1    /* ms from some uses to the next, if nothing happens */

struct store_feeder {
    store_slave_t slave;
    const store_cluster_hooks_t *hooks;
    char name[STORE_ADDRESS_TEXT];
    store_slave_figures_t *figures;
    store_stream_t *stream;
    int bell;
    pthread_t thread;

    int stop, over, complete; /* atomic */
    unsigned generation;      /* of the spaces that it knows; atomic */
    int idle;                 /* all that it has read is written; atomic */

    /* The thread's. */
    store_greeting_t greeting;
    store_sender_t sender;
    store_change_sender_t changes;
    store_copier_t copier;
    int keeps; /* it does not take the copy */
    const char *refusal;
    int64_t began;
    store_push_t push;
    store_lru_touches_t uses;
    int is_member; /* it confirms (confirm.h) */
};

/* ---- the join ---- */

/* A space that comes later may have items: it was gone, or the last store knew
 * it. @return how many were added to the copy */
static unsigned choose_spaces(store_feeder_t *f)
{
    store_space_t *now[STORE_SPACES];
    unsigned i, n, added = 0;

    n = store_cluster_spaces(f->hooks, now);
    for (i = 0; i < n; i++)
        if (store_change_sender_is_for(&f->changes, now[i])) {
            added += store_copier_add(&f->copier, now[i]);
            f->changes.has[now[i]->slot] = 1;
        }
    return added;
}

static void note_joined(store_feeder_t *f)
{
    store_slave_figures_t *figures = f->figures;

    memcpy(figures->address, f->name, sizeof figures->address - 1);
    STORE_SET(figures->yrmcds, !f->greeting.ours);
    STORE_SET_RELEASE(figures->joined, (uint64_t)time(NULL));
    if (f->changes.only && f->copier.n_spaces == 0)
        store_note(STORE_WARN,
                   "slave %s gets nothing: there is no space %s "
                   "(AppStoreOpenSpace)",
                   f->name,
                   f->changes.only[0] ? f->changes.only : "that is open");
    store_note(STORE_NOTICE, "slave %s joined%s", f->name,
               f->greeting.ours ? "" : ", as a yrmcds");
}

static int greet(store_feeder_t *f, const store_history_t *mine)
{
    return store_greeting_send(&f->sender.out, f->copier.space,
                               f->copier.n_spaces, mine);
}

/* It gets the hello, and decides the same. */
static int keeps_its_own(store_feeder_t *f, const store_history_t *mine)
{
    int is_trusted = f->slave.has_secret || f->hooks->config->n_secret == 0;

    f->keeps =
        store_claim_hear(&f->greeting.history, mine, f->name, is_trusted);
    if (f->keeps && greet(f, mine) == 0 &&
        store_slave_link_flush(&f->sender.out) == 0)
        f->sender.out.why = "it keeps its own data";
    return f->keeps;
}

/* What a slave has is not the whole copy any more. A space is there before its
 * first change is. So if this is called when changes were read, none of them is
 * left out, and the mark behind them is true. */
static void look_for_spaces(void *ctx)
{
    store_feeder_t *f = ctx;
    unsigned generation = f->hooks->generation();

    if (f->generation == generation)
        return;
    if (choose_spaces(f) > 0) {
        /* One that has begun was perhaps read before, and not sent. */
        store_space_await_flushes();
        f->began = clock_ms();
        STORE_SET_RELEASE(f->complete, 0);
        STORE_SET(f->figures->complete, 0);
    }
    STORE_SET_RELEASE(f->generation, generation);
}

/* The place in the list comes first: each change is either before it, and so
 * the copy has it, or in the list. A flush that was noted before it is not in
 * the list, so its items have to be dead. */
static int begin(store_feeder_t *f)
{
    store_history_t mine;

    f->sender.ours = f->greeting.ours;
    f->sender.out.slot = f->slave.slot;
    f->sender.out.confirmed = f->sender.ours ? store_confirm_heard : NULL;
    if (!f->slave.has_secret)
        f->changes.only = f->hooks->config->open_space;
    f->began = clock_ms();
    store_changes_end(&f->changes.cursor);
    store_space_await_flushes();
    f->sender.out.cursor = &f->changes.cursor;
    f->generation = f->hooks->generation();
    choose_spaces(f);
    f->changes.look = look_for_spaces;
    f->changes.ctx = f;
    store_lru_touches_begin(&f->uses);
    store_history_own(&mine);
    mine.epoch[0].position = f->changes.cursor.position;
    if (f->sender.ours && keeps_its_own(f, &mine))
        return -1;
    note_joined(f);
    if (!f->sender.ours)
        return 0;
    store_greeting_compare(&f->greeting, f->copier.space, f->copier.n_spaces,
                           f->name);
    return greet(f, &mine);
}

/* From here on the slave may be promoted. One without TLS has the open space
 * only, and confirms nothing. @return 0: it needs more changes before */
static int join(store_feeder_t *f)
{
    if (f->sender.ours && f->slave.has_secret && !f->is_member) {
        f->is_member = 1;
        store_confirm_joins(f->slave.slot, &f->slave.address);
    }
    return store_confirm_is_whole(f->slave.slot, f->changes.cursor.position);
}

/* All writes wait for one that confirms. So it first takes what the kernels
 * have of the copy: that may be megabytes. The first mark is sent behind the
 * copy. */
static int has_taken_copy(const store_feeder_t *f)
{
    return f->sender.out.has_echoed || !f->sender.ours ||
           !f->slave.has_secret || !store_confirm_is_wanted();
}

static int end_copy(store_feeder_t *f)
{
    if (!has_taken_copy(f) || !join(f))
        return 0;
    if (f->sender.ours && store_sender_complete(&f->sender) != 0)
        return -1;
    if (store_slave_link_flush(&f->sender.out) != 0)
        return -1;
    STORE_SET_RELEASE(f->complete, 1);
    STORE_SET(f->figures->complete, 1);
    store_note(STORE_NOTICE,
               "slave %s has the whole copy: %" PRIu64 " items in %" PRId64
               " ms",
               f->name, f->copier.items, clock_ms() - f->began);
    return 0;
}

/* ---- the thread ---- */

static int wait_for_changes(store_feeder_t *f, int most)
{
    int64_t ms;
    int rv;

    STORE_SET_RELEASE(f->idle, 1);
    store_changes_wait(f->slave.slot, f->bell);
    rv = store_slave_link_wait(
        &f->sender.out, f->bell,
        store_changes_lag(&f->changes.cursor, &ms) == 0 ? most : 0);
    store_changes_wait(f->slave.slot, -1);
    store_bell_read(f->bell);
    STORE_SET_RELEASE(f->idle, 0);
    store_push_gather(&f->push);
    return rv;
}

static int is_early(const store_feeder_t *f)
{
    return store_push_is_early(&f->push, &f->sender.out);
}

static int wait_for_echo(store_feeder_t *f)
{
    if (store_slave_link_wait(&f->sender.out, -1, STORE_PUSH_PATIENCE) != 0)
        return -1;
    if (!is_early(f))
        store_push_gather(&f->push);
    return 0;
}

static int push(store_feeder_t *f)
{
    return store_push(&f->push, &f->sender, &f->changes.cursor);
}

/* The copy of a space that came later does not hold up the clients. */
static int copy_some(store_feeder_t *f)
{
    if (store_copier_run(&f->copier, &f->sender) != 0)
        return -1;
    if (!f->is_member || !store_confirm_is_awaited())
        return 0;
    return push(f) != 0 ? -1 : store_slave_link_hear(&f->sender.out);
}

/* The list first, but a list that never ends does not stop the copy. */
static int feed_once(store_feeder_t *f)
{
    int i, n = 1, uses = 0;

    look_for_spaces(f);
    for (i = 0; i < BATCHES && n > 0; i++)
        n = store_change_sender_run(&f->changes, &f->sender);
    if (n < 0)
        return -1;
    if (store_change_sender_clear(&f->changes))
        return 0;
    if (!store_copier_is_done(&f->copier))
        return copy_some(f);
    if (!STORE_GET_ACQUIRE(f->complete) && end_copy(f) != 0)
        return -1;
    if (is_early(f))
        return wait_for_echo(f);
    if (n == 0)
        uses = store_lru_touches_run(&f->uses, f->copier.space,
                                     f->copier.n_spaces, &f->sender);
    if (uses < 0 || push(f) != 0)
        return -1;
    if (is_early(f))
        return 0;
    return n > 0 ? store_slave_link_hear(&f->sender.out)
                 : wait_for_changes(f, uses ? SOON : PAUSE);
}

/* Whoever reaches the port can end without a join as often as it wants. The
 * main thread logs that, once a minute. */
static void note_end(store_feeder_t *f, const char *why)
{
    if (STORE_GET_ACQUIRE(f->stop) || f->keeps)
        return;
    if (!store_feeder_has_joined(f)) {
        f->refusal = why;
        return;
    }
    store_note(STORE_GET_ACQUIRE(f->complete) ? STORE_NOTICE : STORE_WARN,
               "slave %s dropped%s: %s", f->name,
               STORE_GET_ACQUIRE(f->complete) ? ""
                                              : " before it had the whole copy",
               why);
}

static void *run(void *ctx)
{
    store_feeder_t *f = ctx;
    const char *why = "no memory";

    if (store_greeting_take(f->stream, f->slave.has_secret,
                            f->hooks->config->slave_timeout, &f->greeting,
                            &why) == 0) {
        int rv = begin(f);

        while (rv == 0 && !STORE_GET_ACQUIRE(f->stop))
            rv = feed_once(f);
        why = f->sender.out.why;
    }
    note_end(f, why);
    if (f->is_member)
        store_confirm_leaves(f->slave.slot, f->sender.out.has_said_bye);
    store_changes_wait(f->slave.slot, -1);
    STORE_SET(f->figures->complete, 0);
    /* The descriptor is closed by the main thread. */
    shutdown(store_stream_fd(f->stream), SHUT_RDWR);
    STORE_SET_RELEASE(f->over, 1);
    return NULL;
}

/* ---- for the main thread ---- */

static void free_feeder(store_feeder_t *f)
{
    int error = errno;

    store_copier_close(&f->copier);
    store_slave_link_close(&f->sender.out);
    store_stream_close(f->stream);
    if (f->bell >= 0)
        close(f->bell);
    free(f);
    errno = error;
}

static int prepare(store_feeder_t *f, int fd)
{
    const store_cluster_t *config = f->hooks->config;

    store_address_text(&f->slave.address, f->name);
    f->figures = &store_region_figures()->cluster.slave[f->slave.slot];
    memset(f->figures, 0, sizeof *f->figures);
    f->bell = store_bell_make();
    f->stream = store_stream_make(
        fd, 1, f->slave.has_secret ? config->secret : NULL, config->n_secret);
    if (!f->stream || f->bell < 0 || store_copier_open(&f->copier) != 0)
        return -1;
    return store_slave_link_open(&f->sender.out, f->stream,
                                 config->slave_timeout);
}

static int start_thread(store_feeder_t *f)
{
    char name[16];

    snprintf(name, sizeof name, "feeder %u", f->slave.slot);
    return store_thread_start(&f->thread, name, run, f);
}

store_feeder_t *store_feeder_start(const store_cluster_hooks_t *hooks,
                                   const store_slave_t *slave, int fd)
{
    store_feeder_t *f = calloc(1, sizeof *f);

    if (!f) {
        close(fd);
        return NULL;
    }
    f->hooks = hooks;
    f->slave = *slave;
    if (prepare(f, fd) == 0 && start_thread(f) == 0)
        return f;
    free_feeder(f);
    return NULL;
}

int store_feeder_has_joined(const store_feeder_t *f)
{
    return STORE_GET_ACQUIRE(f->figures->joined) != 0;
}

const char *store_feeder_refusal(const store_feeder_t *f)
{
    return f->refusal;
}

int store_feeder_is_over(const store_feeder_t *f)
{
    return STORE_GET_ACQUIRE(f->over);
}

int store_feeder_is_overtaken(const store_feeder_t *f)
{
    return STORE_GET_ACQUIRE(f->sender.out.overtaken);
}

int store_feeder_is_complete(const store_feeder_t *f)
{
    return STORE_GET_ACQUIRE(f->complete) &&
           STORE_GET_ACQUIRE(f->generation) == f->hooks->generation();
}

/* It is busy from before it reads a change until after that is written. */
int store_feeder_is_drained(const store_feeder_t *f)
{
    int64_t ms;
    int queued = 1;

    return store_changes_lag(&f->changes.cursor, &ms) == 0 &&
           STORE_GET_ACQUIRE(f->idle) &&
           ioctl(store_stream_fd(f->stream), SIOCOUTQ, &queued) == 0 &&
           queued == 0;
}

const store_slave_t *store_feeder_slave(const store_feeder_t *f)
{
    return &f->slave;
}

void store_feeder_count(const store_feeder_t *f)
{
    int64_t ms;
    uint64_t lag = store_changes_lag(&f->changes.cursor, &ms);

    if (!store_feeder_has_joined(f))
        return;
    STORE_SET(f->figures->lag, lag);
    STORE_SET(f->figures->lag_ms, (uint64_t)ms);
    STORE_SET(f->figures->sent, STORE_GET(f->sender.out.sent));
}

void store_feeder_end(store_feeder_t *f)
{
    if (!f)
        return;
    STORE_SET_RELEASE(f->stop, 1);
    shutdown(store_stream_fd(f->stream), SHUT_RDWR);
    store_bell_ring(f->bell);
    pthread_join(f->thread, NULL);
    STORE_SET_RELEASE(f->figures->joined, 0);
    free_feeder(f);
}
