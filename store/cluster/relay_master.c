/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "store/cluster/relay_master.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "base/clock_ms.h"
#include "store/cluster/follower_state.h"
#include "store/note.h"

#define AGAIN   INT64_C(100)  /* ms, after a connect() that has failed */
#define CONNECT INT64_C(1000) /* ms: then the address may have moved */
#define BODY    4096          /* bytes: no reply has more */
#define UNKNOWN INT64_C(2500) /* ms: a master of ours has said hello */
#define EVENTS  (EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET)

enum { IS_YRMCDS, DOES_NOT_SERVE, HAS_ANOTHER_KEY, HAS_NO_KEY, REASONS };

static struct {
    const store_cluster_t *config;
    int epoll;
    int is_known, is_yrmcds; /* what the master is, or was */
    int is_down;             /* the last connect() has failed */
    int is_back;
    unsigned attempts; /* connect() that have not ended */
    int64_t began, retry_at;
    int64_t noted_at[REASONS]; /* by reason; 0: never */
} master;

void store_relay_master_begin(const store_cluster_t *config, int epoll)
{
    memset(&master, 0, sizeof master);
    master.config = config;
    master.epoll = epoll;
    master.began = clock_ms();
}

/* The follower may have lost its master before a client came. What that master
 * was is known still. */
static void look_at_master(void)
{
    store_follower_state_t state;

    store_follower_state(&state);
    if (!state.connected && !state.has_begun)
        return;
    master.is_known = 1;
    master.is_yrmcds = state.is_yrmcds;
}

/* A yrmcds without items sends nothing to its slaves. So after some time the
 * master is asked. */
int store_relay_master_is_due(int64_t now)
{
    look_at_master();
    if (now < master.retry_at ||
        (!master.is_known && now - master.began < UNKNOWN))
        return 0;
    return !master.is_down || master.attempts == 0;
}

int store_relay_master_is_back(void)
{
    int is_back = master.is_back;

    master.is_back = 0;
    return is_back;
}

/* ---- the connection ---- */

static void leave_connecting(store_relay_master_t *m)
{
    if (m->stage == STORE_RELAY_CONNECTING)
        master.attempts--;
}

void store_relay_master_close(store_relay_master_t *m)
{
    leave_connecting(m);
    if (m->stream)
        store_stream_close(m->stream);
    else if (m->stage == STORE_RELAY_CONNECTING)
        close(m->fd);
    memset(m, 0, sizeof *m);
}

static store_relay_stage_t fail(store_relay_master_t *m, int64_t now)
{
    master.is_down = 1;
    master.retry_at = now + AGAIN;
    store_relay_master_close(m);
    return STORE_RELAY_NONE;
}

/* The master may die without a word, and its address moves: the new owner
 * rejects what belongs to no connection of its own. */
static int begin(store_relay_master_t *m, void *mark, int64_t now)
{
    struct epoll_event event = {EVENTS, {.ptr = mark}};

    m->fd = store_cluster_connect(&master.config->vip,
                                  master.config->port_memcache, STORE_LOST);
    if (m->fd < 0)
        return -1;
    m->stage = STORE_RELAY_CONNECTING;
    m->began = now;
    master.attempts++;
    return epoll_ctl(master.epoll, EPOLL_CTL_ADD, m->fd, &event);
}

/* @return 1: connected; 0: not yet; -1: it has failed */
static int is_connected(const store_relay_master_t *m, int64_t now)
{
    struct pollfd p = {m->fd, POLLOUT, 0};

    if (poll(&p, 1, 0) == 0)
        return now - m->began >= CONNECT ? -1 : 0;
    return store_cluster_connected(m->fd) == 0 ? 1 : -1;
}

/* What the master is may change before the connection is secured. The first
 * bytes have to be those that belong to this connection. */
static int start_stream(store_relay_master_t *m)
{
    const store_cluster_t *c = master.config;
    int may_be_plain = master.is_known ? master.is_yrmcds : c->n_plain > 0;
    int is_secret = c->n_secret > 0 && !may_be_plain;

    m->is_yrmcds = master.is_yrmcds;
    m->is_plain = c->n_secret > 0 && !is_secret;
    m->stream = store_stream_make(m->fd, 0, is_secret ? c->secret : NULL,
                                  is_secret ? c->n_secret : 0);
    leave_connecting(m);
    m->stage = STORE_RELAY_SECURING;
    if (!m->stream) {
        m->stage = STORE_RELAY_NONE; /* the descriptor is closed */
        return -1;
    }
    master.is_back |= master.is_down;
    master.is_down = 0;
    return 0;
}

/* ---- the name of the space ---- */

/* A master that may be anybody is told no other name than that of the open
 * space. @return 0: it does not have this space: a yrmcds has the open one
 * only */
static int prepare_name(store_relay_master_t *m, const store_space_t *space)
{
    const char *name = m->is_plain ? master.config->open_space : space->name;

    if (m->is_yrmcds)
        return store_cluster_is_open(master.config, space->name);
    m->n_packet = store_relay_packet_put(name, m->packet);
    return 1;
}

/* @return 1: all is sent; 0: EAGAIN; -1 */
static int send_name(store_relay_master_t *m)
{
    ssize_t n;

    while (m->sent < m->n_packet) {
        n = store_stream_write(m->stream, m->packet + m->sent,
                               m->n_packet - m->sent);
        if (n < 0)
            return errno == EAGAIN ? 0 : -1;
        m->sent += (size_t)n;
    }
    return 1;
}

/* Not one byte more than these: what follows is for the client.
 * @return 1: all are there; 0: EAGAIN; -1 */
static int receive(store_relay_master_t *m, void *to, size_t n)
{
    ssize_t got;

    while (m->got < n) {
        got = store_stream_read(m->stream, (char *)to + m->got, n - m->got);
        if (got == 0 || (got < 0 && errno != EAGAIN))
            return -1;
        if (got < 0)
            return 0;
        m->got += (size_t)got;
    }
    m->got = 0;
    return 1;
}

/* The head replaces the packet, which was sent. */
static int read_head(store_relay_master_t *m)
{
    store_packet_head_t head;
    int rv = receive(m, m->packet, STORE_PACKET_HEAD);

    if (rv != 1)
        return rv;
    store_packet_head_get(&head, m->packet);
    m->n_body = head.body_length;
    m->status = head.status;
    m->has_head = 1;
    if (head.magic != STORE_PACKET_RESPONSE || m->n_body > BODY)
        return -1;
    /* yrmcds does not repeat an opcode that it does not know. */
    return head.opcode == STORE_RELAY_SPACE || m->status == STORE_STATUS_UNKNOWN
               ? 1
               : -1;
}

/* Why a client is not relayed. Each reason is logged once a minute. */
static void note(unsigned why, const store_space_t *space, int64_t now)
{
    static const char *const text[] = {
        "its clients on this host are closed, because the master is a yrmcds, "
        "which has only the space of AppStoreOpenSpace",
        "its clients on this host are closed, because the master does not "
        "serve this space to this host",
        "its clients on this host wait, because the master has another key "
        "(AppStoreKey)",
        "its clients on this host are closed, because without AppStoreKey only "
        "the space of AppStoreOpenSpace is shared with the master"};

    if (store_note_is_due(&master.noted_at[why], now))
        store_note(STORE_WARN, "space %s: %s", space->name, text[why]);
}

static store_relay_stage_t refused(const store_space_t *space, int64_t now)
{
    note(master.is_yrmcds ? IS_YRMCDS : DOES_NOT_SERVE, space, now);
    return STORE_RELAY_REFUSED;
}

/* Without a secret the master may be anybody. */
static int is_private(const store_space_t *space)
{
    return master.config->n_secret == 0 &&
           !store_cluster_is_open(master.config, space->name);
}

/* @return 1: the space is named; 0: EAGAIN; -1: the connection has ended; -2:
 * the master refuses */
static int name_space(store_relay_master_t *m)
{
    char body[BODY];
    int rv = 1;

    if (m->n_packet == 0)
        return 1;
    if (m->sent < m->n_packet)
        rv = send_name(m);
    if (rv == 1 && !m->has_head)
        rv = read_head(m);
    if (rv != 1)
        return rv;
    if ((!master.is_known || master.is_yrmcds) &&
        m->status == STORE_STATUS_UNKNOWN) {
        master.is_known = master.is_yrmcds = 1;
        return -1;
    }
    if (m->status != STORE_STATUS_OK)
        return -2;
    /* A master of ours is never plain then, and a yrmcds knows no name. */
    if (m->is_plain)
        return -1;
    return receive(m, body, m->n_body);
}

/* ---- all of it ---- */

static store_relay_stage_t secured(store_relay_master_t *m,
                                   const store_space_t *space, int64_t now)
{
    int rv;

    if (store_stream_handshake(m->stream) != 0) {
        if (errno == EAGAIN)
            return m->stage;
        if (errno == EPROTO)
            note(HAS_ANOTHER_KEY, space, now);
        return fail(m, now);
    }
    rv = prepare_name(m, space);
    m->stage = STORE_RELAY_NAMING;
    return rv ? m->stage : refused(space, now);
}

store_relay_stage_t store_relay_master_turn(store_relay_master_t *m,
                                            const store_space_t *space,
                                            void *mark, int64_t now)
{
    int rv;

    if (is_private(space)) {
        note(HAS_NO_KEY, space, now);
        return STORE_RELAY_REFUSED;
    }
    if (m->stage == STORE_RELAY_NONE && begin(m, mark, now) != 0)
        return fail(m, now);
    if (m->stage == STORE_RELAY_CONNECTING) {
        rv = is_connected(m, now);
        if (rv < 0 || (rv == 1 && start_stream(m) != 0))
            return fail(m, now);
    }
    if (m->stage == STORE_RELAY_SECURING &&
        secured(m, space, now) == STORE_RELAY_REFUSED)
        return STORE_RELAY_REFUSED;
    if (m->stage == STORE_RELAY_NAMING) {
        rv = name_space(m);
        if (rv == -2)
            return refused(space, now);
        if (rv < 0)
            return fail(m, now);
        if (rv == 1)
            m->stage = STORE_RELAY_JOINED;
    }
    return m->stage;
}
