/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "spawner/end/end.h"

#include <errno.h>
#include <string.h>

#include "shm/verbs/timeouts.h"
#include "spawner/process/sock_diag.h"
#include "spawner/process/process.h"
#include "spawner/output/output.h"
#include "spawner/process/socket_owner.h"

/* us between two checks of one process. Most requests end soon, or never. A
 * check reads all sockets of the host, so one check serves all processes that
 * are due. */
#define PAUSE_MIN   10000
#define PAUSE_MAX   SECOND
#define PAUSE_ASKED (SECOND / 10) /* while requests wait for a process */
#define PAUSE_ALL   PAUSE_MIN     /* between two checks of any */

void abandoned_note(process_t *p, uint32_t n, uint32_t waiting)
{
    if (n > p->abandoned.requests)
        p->abandoned.pause = PAUSE_MIN;
    if (p->abandoned.requests == 0)
        memset(p->abandoned.last, 0, sizeof p->abandoned.last);
    p->abandoned.requests = n;
    p->abandoned.waiting = waiting;
}

/* us: the next check. */
static int64_t due_at(const process_t *p)
{
    int64_t pause = p->abandoned.pause;

    if (p->abandoned.waiting > 0 && pause > PAUSE_ASKED)
        pause = PAUSE_ASKED;
    return p->abandoned.counted_at + pause;
}

/* A check has to wait until the connection of a child that was killed is cut:
 * before that, the client does not seem to have gone. */
static int is_due(spawner_t *s, process_t *p)
{
    return p->abandoned.requests > 0 && p->phase == PHASE_LIVE && !p->gone &&
           s->now >= due_at(p) && !connection_cut_ask(s, p);
}

/* ---- what is left ---- */

static void add(spawner_t *s, process_t *p, uint32_t n)
{
    if (p && is_due(s, p))
        p->abandoned.counted += n;
}

static void on_unix(const sock_diag_socket_t *at, uint32_t n, void *ctx)
{
    if (n > 0)
        add(ctx, socket_owner_find(ctx, at), n);
}

static void on_tcp(const sock_diag_port_t *at, uint32_t n, void *ctx)
{
    add(ctx, process_of_port(ctx, at->port), n);
}

/* Processes that listen on TCP, or else on Unix sockets, and are due. */
typedef struct {
    int due;     /* there are some */
    int unknown; /* the kernel gave no complete response this time */
} kind_t;

static int is_tcp(const process_t *p)
{
    return p->is.wire.listen == APL_LISTEN_TCP;
}

static int failed(int rv)
{
    return rv != 0 && errno != ENOTSUP;
}

/* @return 0: none is due */
static int count_left(spawner_t *s, kind_t kinds[2])
{
    process_t *p;

    for (p = s->processes; p; p = p->next) {
        if (!is_due(s, p))
            continue;
        p->abandoned.counted = 0;
        kinds[is_tcp(p)].due = 1;
    }
    if (kinds[0].due)
        kinds[0].unknown = failed(sock_diag_unix_left(on_unix, s));
    if (kinds[1].due)
        kinds[1].unknown = failed(sock_diag_tcp_left(on_tcp, s));
    return kinds[0].due || kinds[1].due;
}

/* ---- what follows ---- */

static uint32_t excess(uint32_t a, uint32_t b)
{
    return a > b ? a - b : 0;
}

/* Connections that were there at each of the last checks. */
static uint32_t lasting(const process_abandoned_t *a)
{
    uint32_t least = a->last[0];
    int i;

    for (i = 1; i < ABANDONED_CHECKS; i++)
        if (a->last[i] < least)
            least = a->last[i];
    return least;
}

/* The number of requests that have ended. */
static uint32_t ended(const process_abandoned_t *a)
{
    uint32_t gone = excess(lasting(a), a->counted);
    uint32_t more = excess(a->requests, a->counted);

    return gone > more ? gone : more;
}

static void note_count(process_abandoned_t *a)
{
    memmove(&a->last[1], &a->last[0], sizeof a->last - sizeof a->last[0]);
    a->last[0] = a->counted;
}

static void look_less_often(process_t *p)
{
    if (p->abandoned.pause < PAUSE_MAX)
        p->abandoned.pause *= 2;
}

static void conclude(spawner_t *s, process_t *p)
{
    uint32_t n = ended(&p->abandoned);
    apr_status_t rv = APL_EIDLE;

    if (n > 0)
        rv = apl_timeouts_end_abandoned(&s->shm, p->is.id, n, s->now);
    p->abandoned.counted_at = s->now;
    if (rv == APL_ELOCK)
        return;
    note_count(&p->abandoned);
    if (rv != APR_SUCCESS) {
        look_less_often(p);
        return;
    }
    /* If the segment has more at the next abandoned_note(), that is a rise. */
    p->abandoned.requests = excess(p->abandoned.requests, n);
    app_log(p, LOG_INFO, "is done with an abandoned request");
}

/* Otherwise a connection that was missed in an incomplete count would look
 * closed. */
static void conclude_nothing(const spawner_t *s, process_t *p)
{
    p->abandoned.counted_at = s->now;
    look_less_often(p);
}

void abandoned_check(spawner_t *s)
{
    kind_t kinds[2] = {{0, 0}, {0, 0}};
    process_t *p;

    if (s->now >= s->abandoned_at && count_left(s, kinds)) {
        for (p = s->processes; p; p = p->next) {
            if (!is_due(s, p))
                continue;
            if (kinds[is_tcp(p)].unknown)
                conclude_nothing(s, p);
            else
                conclude(s, p);
        }
        s->abandoned_at = s->now + PAUSE_ALL;
    }
    for (p = s->processes; p; p = p->next)
        if (p->abandoned.requests > 0 && p->phase == PHASE_LIVE && !p->gone &&
            !connection_cut_is_under_way(p))
            state_wake(s, due_at(p) > s->abandoned_at ? due_at(p)
                                                      : s->abandoned_at);
}
