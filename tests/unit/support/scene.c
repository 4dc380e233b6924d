/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "tests/unit/support/scene.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "shm/recovery/recovery.h"
#include "shm/verbs/timeouts.h"
#include "shm/verbs/enter.h"
#include "shm/slots/group.h"
#include "shm/slots/queue.h"
#include "shm/format/segment.h"

scene_t *scene_new(uint32_t max)
{
    const apl_capacity_t n = {SCENE_APPS, 1100, 2000, 20};
    scene_t *s = calloc(1, sizeof *s);
    void *memory = mmap(NULL, apl_segment_size(&n), PROT_READ | PROT_WRITE,
                        MAP_SHARED | MAP_ANONYMOUS, -1, 0);

    assert_true(memory != MAP_FAILED);
    apl_segment_format(&s->pool, memory, &n);
    s->now = 1000000000;
    s->pid = 1000;
    s->made_for = 1;
    apl_configure_limits(&s->pool, max, 1, s->now);
    assert_int_equal(apl_child_register(&s->pool, 1), APR_SUCCESS);
    return s;
}

void scene_drop(scene_t *s)
{
    munmap(s->pool.base, s->pool.size);
    free(s);
}

void scene_end(scene_t *s)
{
    scene_ok(s);
    scene_drop(s);
}

uint32_t scene_child(scene_t *s)
{
    assert_int_equal(apl_child_register(&s->pool, 1), APR_SUCCESS);
    return s->pool.self;
}

void scene_be(scene_t *s, uint32_t child)
{
    s->pool.self = child;
    s->pool.generation = s->pool.children[child].generation;
}

apl_app_t *scene_app(scene_t *s, const char *name)
{
    apl_app_t *app = &s->apps[s->n_apps];
    char *copy = s->names[s->n_apps++];

    snprintf(copy, sizeof s->names[0], "%s", name);
    app->name = copy;
    app->root = "/srv/app";
    app->key = apl_group_key(copy);
    app->options.config = 1;
    app->options.concurrency = 1;
    app->options.global_queue = 1;
    app->options.max_queue = 100;
    app->options.idle_time = 300 * 1000000ll;
    return app;
}

uint32_t scene_overtaken(const apl_pool_t *pool)
{
    uint32_t i, j, top = pool->header->top_session;

    for (i = 1; i <= top; i++) {
        const apl_session_t *s = &pool->sessions[i];

        for (j = 1; j <= top && s->state == APL_SESSION_WAITING; j++) {
            const apl_session_t *t = &pool->sessions[j];

            if (t->state == APL_SESSION_OPEN && t->group == s->group &&
                t->ticket > s->ticket)
                return i;
        }
    }
    return 0;
}

/* All at once, and one step in each call: both find the same. */
static void check_both(const scene_t *s, apl_finding_t *finding)
{
    apl_check_t *check = apl_check_begin(&s->pool);
    apl_finding_t other;
    int good = apl_check(&s->pool, finding);

    assert_non_null(check);
    while (apl_check_go(check, 1, &other) == APL_CHECK_MORE)
        ;
    apl_check_end(check);
    assert_int_equal(good, finding->number == 0);
    assert_true(apl_finding_same(finding, &other));
}

void scene_check(scene_t *s, const char *file, int line)
{
    apl_finding_t finding;
    apl_lock_token_t token;
    uint32_t overtaken;

    /* Others may be about to enter. */
    assert_int_equal(apl_enter(&token, &s->pool, s->now, APL_FOREVER),
                     APR_SUCCESS);
    check_both(s, &finding);
    overtaken = scene_overtaken(&s->pool);
    apl_leave(&token);
    if (finding.number != 0)
        print_error("I%d: %s\n", finding.number, finding.text);
    else if (overtaken != 0)
        print_error("session %u was overtaken in the queue\n", overtaken);
    else if (s->pool.header->counters.repairs != 0)
        print_error("the pool was damaged and repaired\n");
    else
        return;
    _fail(file, line);
}

apr_status_t scene_ask(scene_t *s, apl_session_ref_t *h, const apl_app_t *app)
{
    apr_status_t rv = apl_checkout(&s->pool, h, app, NULL, NULL, s->now);

    scene_ok(s);
    return rv;
}

apr_status_t scene_poll(scene_t *s, apl_session_ref_t *h)
{
    apr_status_t rv = apl_checkout_poll(&s->pool, h, s->now);

    scene_ok(s);
    return rv;
}

apr_status_t scene_get(scene_t *s, apl_session_ref_t *h, const apl_app_t *app)
{
    apr_status_t rv = scene_ask(s, h, app);

    while (rv == APL_EWAIT && scene_reap(s) + scene_spawn(s) > 0)
        rv = scene_poll(s, h);
    return rv;
}

void scene_busy(scene_t *s, const apl_app_t *app, apl_session_ref_t *h, int n)
{
    int i;

    for (i = 0; i < n; i++)
        assert_int_equal(scene_get(s, &h[i], app), APR_SUCCESS);
}

void scene_waiting(scene_t *s, const apl_app_t *app, apl_session_ref_t *w,
                   int n)
{
    int i;

    for (i = 0; i < n; i++)
        assert_int_equal(scene_ask(s, &w[i], app), APL_EWAIT);
}

void scene_polls(scene_t *s, apl_session_ref_t *w, int n, apr_status_t rv)
{
    int i;

    for (i = 0; i < n; i++)
        assert_int_equal(scene_poll(s, &w[i]), rv);
}

void scene_close(scene_t *s, apl_session_ref_t *h)
{
    apl_checkin(&s->pool, h, s->now);
    scene_ok(s);
}

const apl_group_t *scene_widen(scene_t *s, apl_app_t *app,
                               apl_lock_token_t *token)
{
    apl_group_t *g;

    assert_int_equal(apl_enter(token, &s->pool, s->now, APL_FOREVER),
                     APR_SUCCESS);
    g = apl_group_find(token, app->key, app->name);
    app->options.concurrency = 0;
    apl_group_configure(token, g, &app->options);
    apl_queue_serve(token, g);
    return g;
}

void scene_refused(scene_t *s, apl_session_ref_t *h)
{
    apl_checkin_refused(&s->pool, h, s->now);
    scene_ok(s);
}

uint64_t scene_take(scene_t *s)
{
    apl_order_t order;
    uint64_t random = (uint64_t)++s->pid << 32;
    apl_start_t start = scene_start(s->pid);

    if (apl_supervise_next_order(&s->pool, random, s->now, &order) !=
        APR_SUCCESS)
        return 0;
    scene_ok(s);
    start.wire.concurrency = s->made_for;
    if (s->dir)
        start.stamp = apl_restart_stamp(s->dir);
    assert_int_equal(apl_supervise_forked(&s->pool, order.id, &start, s->now),
                     APR_SUCCESS);
    return order.id;
}

void scene_ready(scene_t *s, uint64_t id)
{
    assert_int_equal(apl_supervise_ready(&s->pool, id, s->now), APR_SUCCESS);
    scene_ok(s);
}

void scene_failed(scene_t *s, uint64_t id)
{
    assert_int_equal(apl_supervise_failed(&s->pool, id, 1, 0xe44, "no", s->now),
                     APR_SUCCESS);
    scene_ok(s);
}

int scene_spawn(scene_t *s)
{
    uint64_t id;
    int n = 0;

    for (; (id = scene_take(s)) != 0; n++)
        scene_ready(s, id);
    return n;
}

int scene_reap(scene_t *s)
{
    uint64_t ids[1200];
    uint32_t i, n = apl_reconcile_ids(&s->pool, ids, 1200);
    int gone = 0;

    for (i = 0; i < n; i++) {
        apl_condition_t is = scene_condition(s, ids[i]);

        if (is.state != APL_PROCESS_LEAVING || is.sessions > 0)
            continue;
        assert_int_equal(apl_supervise_gone(&s->pool, ids[i], s->now),
                         APR_SUCCESS);
        scene_ok(s);
        gone++;
    }
    return gone;
}

void scene_hang_up(scene_t *s)
{
    uint32_t i, n;
    uint64_t ids[SCENE_APPS];

    n = apl_reconcile_ids(&s->pool, ids, SCENE_APPS);
    for (i = 0; i < n; i++)
        while (apl_timeouts_end_abandoned(&s->pool, ids[i], 1, s->now) ==
               APR_SUCCESS)
            ;
}

int64_t scene_tick(scene_t *s, int64_t us)
{
    int64_t next;

    s->now += us;
    assert_int_equal(apl_housekeeping_tick(&s->pool, s->now, &next),
                     APR_SUCCESS);
    scene_ok(s);
    return next;
}

void scene_repair(scene_t *s)
{
    assert_int_equal(apl_housekeeping_repair(&s->pool, s->now), APR_SUCCESS);
    s->pool.header->counters.repairs = 0;
}

const apl_group_t *scene_group(scene_t *s, const apl_app_t *app)
{
    return &s->pool.groups[apl_group_index(&s->pool, app->key, app->name)];
}

apl_process_t *scene_process(const scene_t *s, uint64_t id)
{
    return &s->pool.processes[id & 0xffff];
}

apl_condition_t scene_condition(const scene_t *s, uint64_t id)
{
    apl_condition_t is = {0};

    if (apl_reconcile_condition(&s->pool, id, &is) != APR_SUCCESS)
        is.state = APL_PROCESS_FREE;
    return is;
}
