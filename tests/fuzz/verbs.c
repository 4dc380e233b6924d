/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/* The verbs. The dice choose the arguments of each. */

#include "shm/verbs/timeouts.h"
#include "tests/fuzz/play.h"

static apl_app_t *some_app(play_t *p, dice_t *d)
{
    apl_app_t *app = &p->apps[dice(d, PLAY_APPS)];

    play_say(" %s", app->name);
    return app;
}

static apl_session_ref_t *some_hold(play_t *p, dice_t *d)
{
    apl_session_ref_t *hold = &p->holds[dice(d, PLAY_HOLDS)];

    play_say(" hold %d", (int)(hold - p->holds));
    return hold;
}

/* The id of a process that existed, or any id. */
static uint64_t some_id(play_t *p, dice_t *d)
{
    uint32_t n = dice(d, 16);
    uint64_t id =
        n < PLAY_IDS ? p->ids[n] : (uint64_t)dice(d, 16) << 32 | (n - PLAY_IDS);

    play_say(" id %llx", (unsigned long long)id);
    return id;
}

/* ---- of a child of httpd ---- */

/* Act as the first or the second child. A child whose slot was overwritten
 * registers again. */
static int be_child(play_t *p, uint32_t index)
{
    apl_child_watch_t watch;

    p->pool.self = index;
    return apl_child_watch_at(&p->pool, index, &watch) == APR_SUCCESS ||
           apl_child_register(&p->pool, 1) == APR_SUCCESS;
}

static void ask(play_t *p, dice_t *d)
{
    static const apl_request_t request = {"GET", "/", "127.0.0.1", "a=b", 0};
    apl_restart_seen_t seen = {0};
    apl_session_ref_t *h = some_hold(p, d);
    const apl_app_t *app = some_app(p, d);
    uint32_t how = dice(d, 8);

    if (h->session != 0 || !be_child(p, 1 + how / 2 % 2))
        return;
    seen.seq = p->pool.groups[1].stamp_seq;
    seen.stamp.file = 2 + (uint64_t)p->now;
    play_say(how ? "" : ", restart.txt is new");
    apl_checkout(&p->pool, h, app, &request, how ? NULL : &seen, p->now);
}

static void poll(play_t *p, dice_t *d)
{
    apl_checkout_poll(&p->pool, some_hold(p, d), p->now);
}

static void go_on_waiting(play_t *p, dice_t *d)
{
    apl_session_ref_t *h = some_hold(p, d);

    if (h->session != 0)
        apl_checkout_wait(&p->pool, h, 0, NULL, NULL);
}

static void checkin(play_t *p, dice_t *d)
{
    apl_checkin(&p->pool, some_hold(p, d), p->now);
}

static void refused(play_t *p, dice_t *d)
{
    apl_checkin_refused(&p->pool, some_hold(p, d), p->now);
}

static void stop(play_t *p, dice_t *d)
{
    (void)d;
    apl_checkout_stop(&p->pool);
    p->pool.stopping = 0;
}

/* ---- of the spawner: processes ---- */

static void take(play_t *p, dice_t *d)
{
    apl_order_t order;
    uint64_t random = (uint64_t)(p->n_ids + 1) << 32;

    (void)d;
    if (apl_supervise_next_order(&p->pool, random, p->now, &order) ==
        APR_SUCCESS)
        p->ids[p->n_ids++ % PLAY_IDS] = order.id;
}

static void born(play_t *p, dice_t *d)
{
    const apl_start_t start = {
        {77, 0, 7}, {APL_LISTEN_TCP, APL_HTTP, 80, p->n_ids % 4}, p->n_ids % 3};

    apl_supervise_forked(&p->pool, some_id(p, d), &start, p->now);
}

static void ready(play_t *p, dice_t *d)
{
    apl_supervise_ready(&p->pool, some_id(p, d), p->now);
}

/* All wanted processes start. */
static void spawn(play_t *p, dice_t *d)
{
    unsigned i, before = p->n_ids;

    for (i = 0; i < PLAY_IDS; i++)
        take(p, d);
    for (; before < p->n_ids; before++)
        apl_supervise_ready(&p->pool, p->ids[before % PLAY_IDS], p->now);
}

static void failed(play_t *p, dice_t *d)
{
    apl_supervise_failed(&p->pool, some_id(p, d), 1, 5, "no", p->now);
}

static void gone(play_t *p, dice_t *d)
{
    apl_supervise_gone(&p->pool, some_id(p, d), p->now);
}

static void detach(play_t *p, dice_t *d)
{
    apl_supervise_detach(&p->pool, some_id(p, d), APL_EVENT_DETACHED, p->now);
}

static void outdate(play_t *p, dice_t *d)
{
    apl_supervise_outdate(&p->pool, some_id(p, d), p->now);
}

static void adopt(play_t *p, dice_t *d)
{
    const apl_start_t start = {{77, 0, 7}, {APL_LISTEN_FD, APL_HTTP, 0, 1}, 2};
    uint64_t id = some_id(p, d);

    apl_reconcile_adopt(&p->pool, id, &start, some_app(p, d)->name,
                        (int)dice(d, 2), p->now);
}

/* ---- of the spawner: the pool ---- */

static void tick(play_t *p, dice_t *d)
{
    int64_t next;

    p->now += (int64_t)(1 + dice(d, 8)) * 1000000;
    apl_housekeeping_tick(&p->pool, p->now, &next);
}

static void child_gone(play_t *p, dice_t *d)
{
    apl_child_watch_t watch;

    if (apl_child_watch_at(&p->pool, 1 + dice(d, 2), &watch) == APR_SUCCESS)
        apl_child_watch_gone(&p->pool, &watch, p->now);
}

static void limits(play_t *p, dice_t *d)
{
    uint32_t max = 1 + dice(d, 6);

    play_say(" %u", max);
    apl_configure_limits(&p->pool, max, 1, p->now);
}

static void configure(play_t *p, dice_t *d)
{
    apl_app_t *app = some_app(p, d);
    apl_options_t *o = &app->options;
    const struct {
        const char *name;
        uint32_t *value, sides;
    } all[] = {
        {"min", &o->min_instances, 5},         {"max", &o->max_instances, 5},
        {"requests", &o->max_requests, 4},     {"jitter", &o->jitter, 4},
        {"concurrency", &o->concurrency, 5},   {"queue", &o->max_queue, 5},
        {"global", &o->global_queue, 2},       {"rolling", &o->rolling, 2},
        {"under", &o->spawn_if_under, 4},      {"extra", &o->hung_extra, 4},
        {"unkillable", &o->unkillable_stop, 3}};
    uint32_t i = dice(d, 14);

    if (i < sizeof all / sizeof *all) {
        *all[i].value = dice(d, all[i].sides);
        if (all[i].value == &o->concurrency && o->concurrency == 4)
            o->concurrency = APL_CONCURRENCY_AUTO;
        play_say(" %s %u", all[i].name, *all[i].value);
    }
    else if (i == 11)
        o->hung_after = dice(d, 4) * 1000000;
    else if (i == 12)
        o->kill_after = dice(d, 8) * 1000000;
    else
        o->idle_time = dice(d, 8) * 1000000;
    o->config++;
    apl_configure_group(&p->pool, app, (int)dice(d, 2), p->now);
}

static void retire(play_t *p, dice_t *d)
{
    apl_configure_remove(&p->pool, some_app(p, d)->name, p->now);
}

static void restart(play_t *p, dice_t *d)
{
    const char *name = some_app(p, d)->name;

    apl_admin_restart(&p->pool, name, (int)dice(d, 3) - 1, p->now);
}

static void start(play_t *p, dice_t *d)
{
    apl_admin_start(&p->pool, some_app(p, d), p->now);
}

static void drain(play_t *p, dice_t *d)
{
    apl_admin_drain(&p->pool, some_app(p, d), p->now);
}

/* ---- of the clock ---- */

static void long_lived(play_t *p, dice_t *d)
{
    apl_checkout_set_long_lived(&p->pool, some_hold(p, d),
                                APL_LONG_LIVED_RESPONSE);
}

static void look_at_clock(play_t *p, dice_t *d)
{
    apl_session_peek_t overdue[4];
    uint32_t i, n;

    p->now += (int64_t)dice(d, 4) * 1000000;
    n = apl_timeouts_find(&p->pool, p->now, overdue, 4);
    for (i = 0; i < n; i++)
        if (dice(d, 2))
            apl_timeouts_expire(&p->pool, &overdue[i], p->now);
}

static void end(play_t *p, dice_t *d)
{
    apl_timeouts_kill(&p->pool, some_id(p, d), 0, p->now);
    apl_checkout_killed(&p->pool, some_hold(p, d));
}

static void unkillable(play_t *p, dice_t *d)
{
    apl_timeouts_mark_unkillable(&p->pool, some_id(p, d), p->now);
}

/* ---- reads ---- */

static void repair(play_t *p, dice_t *d)
{
    (void)d;
    play_repair(p);
}

static void look(play_t *p, dice_t *d)
{
    apl_condition_t condition;
    uint64_t ids[8];
    char name[APL_NAME_MAX];
    uint32_t i;

    play_look(p);
    for (i = apl_reconcile_ids(&p->pool, ids, 8); i-- > 0;)
        apl_reconcile_condition(&p->pool, ids[i], &condition);
    apl_configure_group_name(&p->pool, dice(d, 5), name);
}

/* Verbs that are frequent are here twice. */
static const struct {
    const char *name;
    void (*verb)(play_t *p, dice_t *d);
} verbs[] = {
    {"ask", ask},
    {"ask", ask},
    {"ask", ask},
    {"spawn", spawn},
    {"spawn", spawn},
    {"take", take},
    {"take", take},
    {"ready", ready},
    {"ready", ready},
    {"failed", failed},
    {"born", born},
    {"gone", gone},
    {"gone", gone},
    {"detach", detach},
    {"outdate", outdate},
    {"adopt", adopt},
    {"poll", poll},
    {"wait", go_on_waiting},
    {"checkin", checkin},
    {"checkin", checkin},
    {"checkin", checkin},
    {"refused", refused},
    {"stop", stop},
    {"tick", tick},
    {"tick", tick},
    {"child gone", child_gone},
    {"limits", limits},
    {"configure", configure},
    {"configure", configure},
    {"remove", retire},
    {"drain", drain},
    {"start", start},
    {"restart", restart},
    {"restart", restart},
    {"long_lived", long_lived},
    {"clock", look_at_clock},
    {"clock", look_at_clock},
    {"kill", end},
    {"unkillable", unkillable},
    {"repair", repair},
    {"look", look},
};

void verbs_do(play_t *p, dice_t *d)
{
    uint32_t i = dice(d, sizeof verbs / sizeof *verbs);

    play_say("%s", verbs[i].name);
    verbs[i].verb(p, d);
}
