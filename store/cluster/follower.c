/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "store/cluster/follower.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/clock_ms.h"
#include "base/heartbeat.h"
#include "store/atomic.h"
#include "store/bell.h"
#include "store/cluster/apply.h"
#include "store/cluster/follower_state.h"
#include "store/cluster/hello.h"
#include "store/cluster/history.h"
#include "store/cluster/mark.h"
#include "store/cluster/peers.h"
#include "store/cluster/vip.h"
#include "store/memory/region.h"
#include "store/note.h"
#include "store/thread.h"

/* ms */
#define RETRY_SOON    100    /* after the loss of a master */
#define RETRY         1000   /* after some attempts without a master */
#define DIFFER        600000 /* between two reports of how spaces differ */
/* yrmcds does not say when its copy is complete. It begins it within a second,
 * and sends it without a pause. */
#define YRMCDS_SILENT 3000
#define YRMCDS_LONG   60000

#define AHEAD         32768 /* bytes at most that TLS has read ahead */

static struct {
    const store_cluster_hooks_t *hooks;
    store_cluster_figures_t *figures;
    pthread_t thread;
    int bell;             /* eventfd: it has to end */
    int stop, says_bye;   /* atomic */
    int is_plain;         /* the next attempt is without TLS */
    int64_t retry;        /* ms: to the next attempt */
    int64_t refused_at;   /* ms: when a failure was logged; 0: never */
    int64_t different_at; /* ms: when it was logged how spaces differ */
    int64_t no_room_at;   /* ms: when changes without room were logged */
} follower = {.bell = -1};

/* One connection. */
typedef struct {
    store_stream_t *stream;
    store_apply_t *apply;
    store_echo_t echo;
    char buffer[STORE_APPLY_BUFFER];
    size_t n; /* bytes in it */
    int is_plain;
    int has_begun, is_complete; /* that was logged */
    int is_short;               /* the copy lacks a space that has come */
    int is_dry;                 /* nothing more is there now, as it seems */
    uint64_t no_room;           /* of the result: it was logged */
    int is_closed;              /* by the other end */
    int64_t begun_at;           /* ms: the copy has begun */
    int64_t last_at;            /* ms: of the last bytes */
    int64_t to_read;            /* bytes that had arrived when the end was
                                   wanted; -1: it is not */
    const char *error;          /* why it has ended */
} link_t;

/* ---- a connection to the master ---- */

#define LIMIT 3000 /* ms for a connection, and again for its handshake */

/* Wait for a descriptor. @param fd -1: for the bell only, which is not read
 * @return 1: it is ready; 0: the time is over; -1: errno; ECANCELED: the bell
 * has rung */
static int await(int fd, short events, int bell, int64_t ms)
{
    struct pollfd fds[2] = {{fd, events, 0}, {bell, POLLIN, 0}};

    if (poll(fds, 2, ms < 0 ? 0 : (int)ms) < 0)
        return errno == EINTR ? 0 : -1;
    if (fds[1].revents) {
        errno = ECANCELED;
        return -1;
    }
    return fds[0].revents != 0;
}

/* A host that is gone acknowledges no NUL. */
static int connect_to(const store_cluster_t *config, int bell)
{
    int error, rv,
        fd = store_cluster_connect(&config->vip, config->port_repl,
                                   config->slave_timeout * 1000);

    if (fd < 0)
        return -1;
    rv = await(fd, POLLOUT, bell, LIMIT);
    if (rv == 0)
        errno = ETIMEDOUT;
    if (rv > 0 && store_cluster_connected(fd) == 0)
        return fd;
    error = errno;
    close(fd);
    errno = error;
    return -1;
}

static int shake_hands(store_stream_t *s, int bell)
{
    int64_t until = clock_ms() + LIMIT, left;

    while (store_stream_handshake(s) != 0) {
        left = until - clock_ms();
        if (errno == EAGAIN && left <= 0)
            errno = ETIMEDOUT;
        if (errno != EAGAIN ||
            await(store_stream_fd(s), store_stream_events(s), bell, left) < 0)
            return -1;
    }
    return 0;
}

static int say_hello(const store_cluster_hooks_t *hooks, int is_plain,
                     store_stream_t *s)
{
    size_t n;
    store_history_t mine;
    unsigned char *hello;
    int rv;

    store_history_own(&mine);
    hello = store_hello_make(hooks, is_plain, &mine, 0, &n);
    rv = hello ? store_stream_write_all(s, hello, n, LIMIT) : -1;

    free(hello);
    return rv;
}

/* Connect to the port `repl` of the virtual address, and say hello.
 * @param is_plain 1: without TLS; 0: there is a secret
 * @param answered gets 1 if a host has taken the connection, also when the rest
 *                 fails; 0 if not
 * @return NULL: errno */
static store_stream_t *dial(const store_cluster_hooks_t *hooks, int is_plain,
                            int bell, int *answered)
{
    const store_cluster_t *config = hooks->config;
    int error, fd = connect_to(config, bell);
    store_stream_t *s;

    *answered = fd >= 0;
    if (fd < 0)
        return NULL;
    s = store_stream_make(fd, 0, is_plain ? NULL : config->secret,
                          config->n_secret);
    if (!s) {
        errno = ENOMEM;
        return NULL;
    }
    if (shake_hands(s, bell) == 0 && say_hello(hooks, is_plain, s) == 0)
        return s;
    error = errno;
    store_stream_close(s);
    errno = error;
    return NULL;
}

/* ---- what it has done ---- */

static int is_stopping(void)
{
    return STORE_GET_ACQUIRE(follower.stop);
}

/* The main thread waits for this one then. */
static void progress(void)
{
    if (is_stopping())
        heartbeat();
}

static int is_quiet(void)
{
    return follower.different_at != 0 &&
           clock_ms() - follower.different_at < DIFFER;
}

static void has_begun(link_t *l)
{
    int is_kept = store_apply_result(l->apply)->is_kept;
    char vip[STORE_ADDRESS_TEXT];

    l->has_begun = 1;
    l->begun_at = clock_ms();
    store_follower_state_connected();
    follower.refused_at = 0;
    if (!is_quiet())
        follower.different_at = l->begun_at;
    store_note(
        STORE_NOTICE,
        "connected to the master at %s: this store %s its items%s%s, and "
        "takes a copy",
        store_address_text(&follower.hooks->config->vip, vip),
        is_kept ? "keeps" : "has forgotten",
        l->is_plain ? " of AppStoreOpenSpace" : "",
        is_kept ? " until it has the next copy" : "");
}

static void is_complete(link_t *l)
{
    const store_applied_t *r = store_apply_result(l->apply);

    l->is_complete = 1;
    l->no_room = r->no_room;
    store_follower_state_complete(1);
    store_note(r->no_room ? STORE_WARN : STORE_NOTICE,
               "the copy of the master is complete: %llu items and changes in "
               "%lld ms; %llu had no room",
               (unsigned long long)r->items,
               (long long)(clock_ms() - l->begun_at),
               (unsigned long long)r->no_room);
}

/* The slave is behind by nothing, and confirms: nothing else shows what it does
 * not have. */
static void look_for_room(link_t *l, int64_t now, int is_end)
{
    const store_applied_t *r = store_apply_result(l->apply);

    if (!l->is_complete || r->no_room == l->no_room ||
        (!store_note_is_due(&follower.no_room_at, now) && !is_end))
        return;
    store_note(STORE_WARN,
               "changes of the master had no room here: %llu, the last one in "
               "space %s; give each host the same AppStore and "
               "AppStoreMaxObject",
               (unsigned long long)(r->no_room - l->no_room), r->no_room_in);
    l->no_room = r->no_room;
}

/* The master has one space more, and copies it. */
static void is_incomplete(link_t *l, int64_t now)
{
    l->is_complete = 0;
    l->begun_at = now;
    store_follower_state_grows();
    store_note(STORE_NOTICE, "a space has come to the master: the store takes "
                             "the copy of this space");
}

static void guess(const link_t *l, int64_t now)
{
    const store_applied_t *r = store_apply_result(l->apply);

    if (r->is_yrmcds &&
        (now - l->last_at >= YRMCDS_SILENT || now - l->begun_at >= YRMCDS_LONG))
        store_apply_complete(l->apply);
}

static void look_at(link_t *l, int64_t now)
{
    const store_applied_t *r = store_apply_result(l->apply);

    /* Before `connected`: the relay asks what the master is. */
    store_follower_state_yrmcds(r->is_yrmcds);
    if (r->has_begun && !l->has_begun)
        has_begun(l);
    guess(l, now);
    if (r->is_complete && !l->is_complete)
        is_complete(l);
    if (!r->is_complete && l->is_complete)
        is_incomplete(l, now);
    look_for_room(l, now, 0);
    store_echo_mark(&l->echo, &r->mark, now);
    STORE_SET(follower.figures->received, r->received);
}

/* ---- what arrives ---- */

/* @return -1: the connection has to end */
static int use(link_t *l)
{
    ssize_t used = store_apply_input(l->apply, l->buffer, l->n);

    if (used < 0) {
        l->error = store_apply_result(l->apply)->error;
        return -1;
    }
    l->n -= (size_t)used;
    memmove(l->buffer, l->buffer + used, l->n);
    return 0;
}

/* EPROTO: usually the other end does not have the secret of this end. */
static int is_by_other_end(int error)
{
    return error == ECONNRESET || error == EPIPE || error == EPROTO;
}

/* @return bytes; 0: nothing is there now; -1: the connection has to end */
static ssize_t take(link_t *l)
{
    size_t n = 0;
    char *room = l->n == 0 ? store_apply_room(l->apply, &n) : NULL;
    ssize_t got;

    if (!room)
        n = sizeof l->buffer - l->n;
    got = store_stream_read(l->stream, room ? room : l->buffer + l->n, n);
    l->is_dry =
        got < 0 || ((size_t)got < n && !store_stream_pending(l->stream));
    if (got < 0 && errno == EAGAIN)
        return 0;
    if (got <= 0) {
        l->is_closed = got == 0 || is_by_other_end(errno);
        l->error = got < 0 ? strerror(errno) : "it has closed the connection";
        return -1;
    }
    if (room)
        store_apply_filled(l->apply, (size_t)got);
    else
        l->n += (size_t)got;
    return !room && use(l) != 0 ? -1 : got;
}

/* What had arrived when the end was wanted is applied, and no more: the master
 * may go on sending. @return 1: that is done */
static int is_done(link_t *l, ssize_t got)
{
    int n = 0;

    if (!is_stopping())
        return 0;
    if (l->to_read < 0) {
        ioctl(store_stream_fd(l->stream), FIONREAD, &n);
        l->to_read = n + (store_stream_pending(l->stream) ? AHEAD : 0);
        return 0;
    }
    l->to_read -= got;
    return got == 0 || l->to_read <= 0;
}

static void rest(link_t *l, int64_t now)
{
    if (l->to_read < 0)
        await(store_stream_fd(l->stream),
              (short)(store_stream_events(l->stream) |
                      store_echo_events(&l->echo)),
              follower.bell, l->echo.due - now);
}

/* A copy that begins now would cost the items, and would not end. */
static int is_too_late(const link_t *l)
{
    return is_stopping() && !store_apply_result(l->apply)->has_begun;
}

static void receive(link_t *l)
{
    int64_t now = clock_ms();
    ssize_t got;

    l->last_at = now;
    store_echo_begin(&l->echo, l->stream, now);
    l->to_read = -1;
    while (!is_too_late(l) && (got = take(l)) >= 0 && !is_done(l, got) &&
           (is_stopping() || !store_apply_is_short(l->apply))) {
        now = clock_ms();
        progress();
        if (got > 0) {
            l->last_at = now;
            store_echo_arrived(&l->echo, now);
        }
        look_at(l, now);
        if (STORE_GET_ACQUIRE(follower.says_bye))
            store_echo_bye(&l->echo);
        store_echo_say(&l->echo, now);
        if (l->is_dry)
            rest(l, now);
    }
    look_at(l, now);
    look_for_room(l, now, 1);
    l->is_short = store_apply_is_short(l->apply);
    if (l->is_short && store_apply_result(l->apply)->is_complete)
        store_follower_state_grows();
}

/* ---- one connection after the other ---- */

/* The other end of a handshake that fails has another secret. */
static const char *words_of(int error)
{
    return error == EPROTO
               ? "the store there has another secret (AppStoreKey), "
                 "or is no store"
               : strerror(error);
}

static void log_refused(const char *why)
{
    char vip[STORE_ADDRESS_TEXT];

    if (is_stopping() || !store_note_is_due(&follower.refused_at, clock_ms()))
        return;
    store_note(STORE_WARN, "no master is at %s, port %u: %s",
               store_address_text(&follower.hooks->config->vip, vip),
               follower.hooks->config->port_repl, why);
}

static void lost(const link_t *l)
{
    store_follower_state_t s;

    store_follower_state_lost();
    if (is_stopping())
        return;
    if (l->is_short && !l->error) {
        store_note(STORE_NOTICE, "a space has come to this host: the store "
                                 "takes the copy of the master again");
        return;
    }
    store_follower_state(&s);
    store_note(STORE_WARN,
               "the connection to the master has ended: %s; the copy is %s",
               l->error, s.complete ? "complete" : "not complete");
    if (l->is_complete)
        follower.retry = RETRY_SOON;
}

/* @return 1: a copy had begun */
static int follow(link_t *l)
{
    int is_declined;

    l->apply = store_apply_make(follower.hooks, l->is_plain, is_quiet(),
                                store_follower_state_begins, progress);
    if (!l->apply) {
        log_refused(strerror(ENOMEM));
        return 0;
    }
    receive(l);
    is_declined = store_apply_result(l->apply)->is_declined;
    store_apply_free(l->apply);
    if (l->has_begun)
        lost(l);
    else if (is_declined)
        store_follower_state_keeps();
    else
        log_refused(l->error);
    return l->has_begun;
}

/* A yrmcds does not know the secret: if AppStorePlainPeers allow one, each
 * second attempt is plain, until one succeeds.
 * @return 1: a copy had begun */
static int attempt(link_t *l)
{
    const store_cluster_t *config = follower.hooks->config;
    int had_begun = 0, answered;

    memset(l, 0, sizeof *l);
    l->is_plain = config->n_secret == 0 || follower.is_plain;
    /* The address may have come, and the role does not know it yet. */
    if (store_vip_is_here(&config->vip) == 1)
        return 0;
    l->stream = dial(follower.hooks, l->is_plain, follower.bell, &answered);
    store_follower_state_answered(answered);
    if (l->stream)
        had_begun = follow(l);
    else {
        l->is_closed = is_by_other_end(errno);
        log_refused(words_of(errno));
    }
    store_stream_close(l->stream);
    if (answered && l->is_closed && !had_begun && !is_stopping())
        store_follower_state_refused();
    if (!had_begun)
        follower.is_plain = config->n_plain > 0 && !l->is_plain;
    store_follower_state_tried();
    return had_begun;
}

/* The store of a master that was killed is back very soon. */
static void rest_before_retry(void)
{
    await(-1, 0, follower.bell, follower.retry);
    follower.retry = follower.retry < RETRY / 2 ? 2 * follower.retry : RETRY;
}

static void *run(void *ctx)
{
    link_t *l = ctx;

    while (!is_stopping()) {
        int had_begun = attempt(l);

        if (!had_begun && !is_stopping())
            store_peers_ask_for_better(follower.hooks, follower.bell);
        if (!had_begun || !l->is_short)
            rest_before_retry();
    }
    free(l);
    return NULL;
}

static int start(void)
{
    link_t *l = malloc(sizeof *l);

    if (l && store_thread_start(&follower.thread, "follower", run, l) == 0)
        return 0;
    free(l);
    return -1;
}

int store_follower_begin(const store_cluster_hooks_t *hooks)
{
    memset(&follower, 0, sizeof follower);
    store_follower_state_clear();
    follower.hooks = hooks;
    follower.retry = RETRY;
    follower.figures = &store_region_figures()->cluster;
    follower.bell = store_bell_make();
    if (follower.bell < 0)
        return -1;
    if (start() == 0)
        return 0;
    close(follower.bell);
    follower.bell = -1;
    return -1;
}

void store_follower_end(int says_bye)
{
    if (follower.bell < 0)
        return;
    STORE_SET_RELEASE(follower.says_bye, says_bye);
    STORE_SET_RELEASE(follower.stop, 1);
    store_bell_ring(follower.bell);
    pthread_join(follower.thread, NULL);
    close(follower.bell);
    follower.bell = -1;
}
