/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "tests/unit/support/callers.h"

#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "shm/slots/group.h"
#include "shm/verbs/enter.h"

#define PROCESSES 4
#define PATIENCE  60000 /* ms */

typedef enum { ASK, POLL, CLOSE, REFUSED } verb_t;

/* What a caller must do. A pointer of another process would be useless. */
typedef struct {
    verb_t verb;
    int caller;
    int64_t now;
    char name[16], dir[64];
    apl_options_t options;
} order_t;

/* The result. */
typedef struct {
    int caller;
    apr_status_t rv;
    apl_session_ref_t hold;
} result_t;

struct callers {
    scene_t *s;
    int forked;
    apl_session_ref_t holds[CALLERS];
    apr_status_t rv[CALLERS];
    pid_t pids[PROCESSES];
    int sockets[PROCESSES]; /* in a process of callers: the first is its own */
};

/* ---- what is done wherever they are ---- */

static apr_status_t ask(callers_t *c, const order_t *o)
{
    apl_pool_t *pool = &c->s->pool;
    apl_app_t app = {.name = o->name,
                     .root = "/srv/app",
                     .key = apl_group_key(o->name),
                     .options = o->options};
    apl_restart_seen_t look;
    int looked =
        o->dir[0] &&
        apl_restart_poll(pool, apl_group_index(pool, app.key, app.name), o->dir,
                         o->now, &look);

    return apl_checkout(pool, &c->holds[o->caller], &app, NULL,
                        looked ? &look : NULL, o->now);
}

static apr_status_t carry_out(callers_t *c, const order_t *o)
{
    apl_pool_t *pool = &c->s->pool;
    apl_session_ref_t *h = &c->holds[o->caller];

    switch (o->verb) {
    case ASK:
        return ask(c, o);
    case POLL:
        return apl_checkout_poll(pool, h, o->now);
    case CLOSE:
        apl_checkin(pool, h, o->now);
        return APR_SUCCESS;
    default:
        apl_checkin_refused(pool, h, o->now);
        return APR_SUCCESS;
    }
}

/* ---- a process of callers ---- */

typedef struct {
    callers_t *c;
    int caller;
} waiter_t;

static void send_result(callers_t *c, int caller, apr_status_t rv)
{
    result_t a = {caller, rv, c->holds[caller]};

    if (send(c->sockets[0], &a, sizeof a, MSG_NOSIGNAL) != sizeof a)
        _exit(3);
}

static void *wait_for(void *arg)
{
    waiter_t *w = arg;

    send_result(w->c, w->caller,
                apl_checkout_wait(&w->c->s->pool, &w->c->holds[w->caller],
                                  apl_now() + PATIENCE * 1000ll, NULL, NULL));
    free(w);
    return NULL;
}

static void wait_aside(callers_t *c, int caller)
{
    waiter_t *w = malloc(sizeof *w);
    pthread_t t;

    *w = (waiter_t){c, caller};
    if (pthread_create(&t, NULL, wait_for, w) != 0 || pthread_detach(t) != 0)
        _exit(4);
}

static void serve(callers_t *c)
{
    order_t o;

    if (apl_child_register(&c->s->pool, 1) != APR_SUCCESS)
        _exit(2);
    while (recv(c->sockets[0], &o, sizeof o, 0) == sizeof o) {
        apr_status_t rv = carry_out(c, &o);

        send_result(c, o.caller, rv);
        if (o.verb == ASK && rv == APL_EWAIT)
            wait_aside(c, o.caller);
    }
    _exit(0);
}

static void fork_process(callers_t *c, int i)
{
    int ends[2];

    assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, ends), 0);
    c->pids[i] = fork();
    assert_true(c->pids[i] >= 0);
    if (c->pids[i] == 0) {
        while (--i >= 0)
            close(c->sockets[i]);
        close(ends[1]);
        c->sockets[0] = ends[0];
        serve(c);
    }
    close(ends[0]);
    c->sockets[i] = ends[1];
}

/* ---- here ---- */

/* Read results until the caller's own has come. */
static void receive_result(callers_t *c, int caller)
{
    struct pollfd from = {c->sockets[caller % PROCESSES], POLLIN, 0};
    result_t a;

    do {
        assert_int_equal(poll(&from, 1, PATIENCE), 1);
        assert_int_equal(recv(from.fd, &a, sizeof a, 0), sizeof a);
        c->holds[a.caller] = a.hold;
        c->rv[a.caller] = a.rv;
    } while (a.caller != caller);
}

static apr_status_t order(callers_t *c, order_t o)
{
    o.now = c->s->now;
    if (c->forked) {
        assert_int_equal(
            send(c->sockets[o.caller % PROCESSES], &o, sizeof o, MSG_NOSIGNAL),
            sizeof o);
        receive_result(c, o.caller);
    }
    else
        c->rv[o.caller] = carry_out(c, &o);
    scene_ok(c->s);
    return c->rv[o.caller];
}

apr_status_t callers_ask(callers_t *c, int caller, const apl_app_t *app,
                         const char *dir)
{
    order_t o = {.verb = ASK, .caller = caller, .options = app->options};

    snprintf(o.name, sizeof o.name, "%s", app->name);
    snprintf(o.dir, sizeof o.dir, "%s", dir ? dir : "");
    return order(c, o);
}

apr_status_t callers_poll(callers_t *c, int caller)
{
    const apl_session_t *s = &c->s->pool.sessions[c->holds[caller].session];

    if (!c->forked)
        return order(c, (order_t){.verb = POLL, .caller = caller});
    /* When its wait is over, it sends a message. */
    if (c->rv[caller] == APL_EWAIT &&
        __atomic_load_n(&s->state, __ATOMIC_ACQUIRE) != APL_SESSION_WAITING)
        receive_result(c, caller);
    return c->rv[caller];
}

void callers_close(callers_t *c, int caller)
{
    order(c, (order_t){.verb = CLOSE, .caller = caller});
}

void callers_refused(callers_t *c, int caller)
{
    order(c, (order_t){.verb = REFUSED, .caller = caller});
}

const apl_session_ref_t *callers_hold(const callers_t *c, int caller)
{
    return &c->holds[caller];
}

callers_t *callers_begin(scene_t *s, int forked)
{
    callers_t *c = calloc(1, sizeof *c);
    int i;

    c->s = s;
    c->forked = forked;
    s->pool.patience = APL_FOREVER; /* one of them may stop inside */
    for (i = 0; i < PROCESSES && forked; i++)
        fork_process(c, i);
    return c;
}

void callers_end(callers_t *c)
{
    int i, status;

    for (i = 0; i < PROCESSES && c->forked; i++) {
        close(c->sockets[i]);
        assert_int_equal(waitpid(c->pids[i], &status, 0), c->pids[i]);
        assert_int_equal(status, 0);
    }
    free(c);
}
