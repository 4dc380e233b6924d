/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "store/cluster/role.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/clock_ms.h"
#include "store/cluster/confirm.h"
#include "store/cluster/follower.h"
#include "store/cluster/follower_state.h"
#include "store/cluster/history.h"
#include "store/cluster/master.h"
#include "store/cluster/peers.h"
#include "store/cluster/promotion.h"
#include "store/cluster/relay.h"
#include "store/cluster/rivals.h"
#include "store/cluster/store_claim.h"
#include "store/cluster/vip.h"
#include "store/memory/changes.h"
#include "store/memory/extent.h"
#include "store/memory/region.h"
#include "store/note.h"

#define DRAIN      5000  /* ms: a handover waits that long for the slaves */
#define LAST_DRAIN 2000  /* ms: and a stop so long */
#define HANDOVER   30000 /* ms: the address has to move in that time */
#define SURE       50    /* ms from the first look without it to the second */

static struct {
    const store_cluster_hooks_t *hooks;
    store_cluster_figures_t *figures;
    store_role_t role; /* atomic */
    char vip[STORE_ADDRESS_TEXT];
    int netlink, listener; /* -1: none */
    int is_over;
    int64_t began;     /* ms */
    int64_t until;     /* ms: the end of a handover; 0: there is none */
    int64_t missed;    /* ms: the first look of a master without it; 0: none */
    int64_t failed_at; /* ms: a line about the listener; 0: it has not failed */
} role = {.netlink = -1, .listener = -1};

store_role_t store_role(void)
{
    return STORE_GET(role.role);
}

static void set_role(store_role_t now)
{
    STORE_SET(role.role, now);
    STORE_SET(role.figures->role, (uint64_t)now);
    STORE_SET(role.figures->since, (uint64_t)time(NULL));
}

/* ---- changes of the role ---- */

/* Without a listener this is done when there is one. */
static void take_slaves(void)
{
    if (role.listener >= 0 &&
        store_master_begin(role.hooks, role.listener) != 0)
        store_note(STORE_ERROR, "no slave can join: %s", strerror(errno));
}

/* Another program may have the port. Clients are served meanwhile. */
static void listen_for_slaves(void)
{
    const store_cluster_t *config = role.hooks->config;

    if (role.listener >= 0)
        return;
    role.listener = store_vip_listen(&config->vip, config->port_repl);
    if (role.listener < 0) {
        int error = errno;

        if (store_note_is_due(&role.failed_at, clock_ms()))
            store_note(STORE_ERROR,
                       "the store cannot listen at %s, port %u, for slaves: "
                       "%s; it tries again each second",
                       role.vip, config->port_repl, strerror(error));
        return;
    }
    if (role.failed_at != 0)
        store_note(STORE_NOTICE, "the store listens at %s, port %u now",
                   role.vip, config->port_repl);
    if (store_role() == STORE_MASTER)
        take_slaves();
}

/* What it has is the whole from now on: the slaves copy it. */
static void become_master(void)
{
    store_directory_t *d = store_region_directory();

    store_promotion_cas(role.hooks);
    store_claim_clear();
    STORE_SET(role.figures->complete, STORE_GET(d->lacks) != STORE_LACKS_ITEMS);
    store_history_begin(role.hooks);
    STORE_SET(d->lacks, 0);
    store_confirm_begin(role.hooks->config);
    set_role(STORE_MASTER);
    take_slaves();
    store_rivals_begin(role.hooks);
}

/* It has applied what had arrived before it serves anybody. */
static void promote(void)
{
    store_follower_state_t state;
    uint32_t lacks;

    store_follower_end(0);
    store_follower_state(&state);
    lacks = STORE_GET(store_region_directory()->lacks);
    become_master();
    store_relay_end();
    STORE_SET(role.figures->relayed, 0);
    store_promotion_log(role.vip, &state, lacks);
}

/* Another host may be the master now. What this one would still accept is
 * lost. */
static void lose(void)
{
    uint64_t unsent;

    role.hooks->close_clients();
    role.is_over = 1;
    unsent = store_changes_unsent();
    store_note(unsent > 0 ? STORE_WARN : STORE_NOTICE,
               "%s has left this host: the store closes its connections, and "
               "starts again as a slave; changes that no slave has: %llu",
               role.vip, (unsigned long long)unsent);
}

/* One look may miss an address: see store_vip_is_here(). */
static int is_lost(int is_reported)
{
    int64_t now = clock_ms();

    if (role.missed == 0)
        role.missed = now;
    return is_reported || now - role.missed >= SURE;
}

/* @param is_reported the kernel says that the address has gone */
static void look(int is_reported)
{
    int is_here = store_vip_is_here(&role.hooks->config->vip);

    if (is_here < 0 || role.is_over)
        return;
    if (is_here)
        role.missed = 0;
    if (is_here && role.role == STORE_SLAVE)
        promote();
    else if (!is_here && role.role == STORE_MASTER && is_lost(is_reported))
        lose();
}

/* ---- begin ---- */

static void on_netlink(void *ctx)
{
    (void)ctx;
    look(store_vip_read(role.netlink, &role.hooks->config->vip));
}

static int begin_slave(void)
{
    set_role(STORE_SLAVE);
    STORE_SET(store_region_directory()->was_master, 0);
    store_note(STORE_NOTICE,
               "%s is not at this host: the store is a slave of the master "
               "there",
               role.vip);
    if (store_region_directory()->lacks)
        store_note(STORE_WARN,
                   "the items are %s: this host is ready to be the master when "
                   "it has the whole copy",
                   store_region_directory()->lacks == STORE_LACKS_NEWER
                       ? "an old copy and a part of the next one"
                       : "a part of a copy");
    if (store_relay_begin(role.hooks) == 0 &&
        store_follower_begin(role.hooks) == 0)
        return 0;
    store_note(STORE_ERROR, "the store cannot be a slave: %s", strerror(errno));
    return -1;
}

static int begin_master(void)
{
    if (store_region_directory()->lacks)
        store_note(STORE_WARN,
                   "%s is at this host: the store is the master, but its copy "
                   "is %s",
                   role.vip,
                   store_region_directory()->lacks == STORE_LACKS_NEWER
                       ? "old, with a part of a newer one"
                       : "not complete: items are missing");
    else
        store_note(STORE_NOTICE, "%s is at this host: the store is the master",
                   role.vip);
    store_peers_ask_as_master(role.hooks);
    become_master();
    store_peers_hear_answers();
    return 0;
}

/* The netlink socket is open before the first look, so no change is missed. */
static int open_sockets(void)
{
    role.netlink = store_vip_open();
    if (role.netlink < 0 ||
        role.hooks->watch(role.netlink, on_netlink, NULL) != 0) {
        store_note(STORE_ERROR, "the addresses of this host are not known: %s",
                   strerror(errno));
        return -1;
    }
    listen_for_slaves();
    return 0;
}

int store_role_begin(const store_cluster_hooks_t *hooks)
{
    const store_cluster_t *config = hooks->config;
    int is_here;

    role.hooks = hooks;
    role.figures = &store_region_figures()->cluster;
    role.missed = role.until = role.failed_at = role.is_over = 0;
    set_role(STORE_ALONE);
    if (config->vip.family == AF_UNSPEC) { /* no other host has more */
        store_history_end();
        return 0;
    }
    role.began = clock_ms();
    store_address_text(&config->vip, role.vip);
    memcpy(role.figures->vip, role.vip, sizeof role.figures->vip - 1);
    if (open_sockets() != 0)
        return -1;
    store_peers_begin(hooks);
    is_here = store_vip_is_here(&config->vip);
    if (is_here >= 0)
        return is_here ? begin_master() : begin_slave();
    store_note(STORE_ERROR, "the addresses of this host are not known: %s",
               strerror(errno));
    return -1;
}

/* ---- what is due ---- */

static void end_handover(void)
{
    role.until = 0;
    STORE_SET(role.figures->pausing, 0);
    role.hooks->pause(0);
}

static void tick_master(int64_t now)
{
    store_master_tick(now);
    if (role.until == 0 || now < role.until)
        return;
    end_handover();
    store_note(STORE_WARN,
               "the handover is over: %s has not moved, so the store serves "
               "again",
               role.vip);
}

static void tick_slave(void)
{
    store_follower_state_t s;

    store_follower_state(&s);
    STORE_SET(role.figures->relayed, store_relay_count());
    STORE_SET(role.figures->lag_ms, (uint64_t)s.lag);
    STORE_SET(role.figures->age_ms,
              (uint64_t)(store_follower_state_age(&s) + 1));
}

void store_role_tick(int64_t now)
{
    store_ready_t ready;

    if (store_role() == STORE_ALONE)
        return;
    look(0);
    if (role.is_over)
        return;
    listen_for_slaves();
    if (store_role() == STORE_MASTER)
        tick_master(now);
    else
        tick_slave();
    store_peers_tick(now);
    STORE_SET(role.figures->missing_listeners,
              (uint64_t)(role.listener < 0) + (uint64_t)store_peers_is_deaf());
    store_history_show();
    ready = store_role_is_ready();
    STORE_SET(role.figures->why, ready);
    STORE_SET(role.figures->ready,
              ready == STORE_READY_YES ? (uint64_t)now / 1000 + 1 : 0);
}

int store_role_is_hurried(void)
{
    store_follower_state_t s;

    if (store_role() != STORE_SLAVE)
        return role.missed != 0;
    store_follower_state(&s);
    return s.since != 0 && clock_ms() - s.since < STORE_FOLLOWER_LOOKS;
}

int store_role_is_over(void)
{
    return role.is_over;
}

store_ready_t store_role_is_ready(void)
{
    store_follower_state_t s;

    if (store_role() != STORE_SLAVE)
        return role.is_over             ? STORE_READY_NOT
               : store_claim_is_there() ? STORE_READY_BETTER
                                        : STORE_READY_YES;
    store_follower_state(&s);
    return store_role_may_lead(&s, role.began);
}

/* ---- handover ---- */

static int has_complete_slave(void)
{
    const store_slave_figures_t *s = role.figures->slave;
    unsigned i;

    store_master_tick(clock_ms());
    for (i = 0; i < STORE_FIGURES_SLAVES; i++)
        if (STORE_GET(s[i].joined) != 0 && STORE_GET(s[i].complete) != 0)
            return 1;
    return 0;
}

const char *store_role_handover(void)
{
    const char *why;

    if (store_role() != STORE_MASTER || role.is_over)
        return "this store is not the master of a cluster";
    if (role.until != 0)
        return "a handover is going on";
    if (!has_complete_slave())
        return "no slave has the whole copy";
    role.hooks->pause(1);
    STORE_SET(role.figures->pausing, 1);
    why = store_master_drain(DRAIN);
    if (why) {
        end_handover();
        return why;
    }
    role.until = clock_ms() + HANDOVER;
    store_note(STORE_NOTICE,
               "handover: all slaves have all changes; the store serves "
               "nothing until %s has moved, or for 30 s",
               role.vip);
    return NULL;
}

/* ---- end ---- */

static void close_socket(int *fd)
{
    if (*fd >= 0)
        close(*fd);
    *fd = -1;
}

/* The slaves get what was acknowledged. */
static void end_master(void)
{
    if (!role.is_over) {
        role.hooks->pause(1);
        if (store_master_drain(LAST_DRAIN)) {
            /* That was logged. */
        }
    }
    store_master_end();
}

void store_role_end(void)
{
    if (store_role() == STORE_MASTER)
        end_master();
    if (store_role() == STORE_SLAVE) {
        STORE_SET(role.figures->ready, 0);
        store_follower_end(1);
        store_relay_end();
    }
    store_rivals_end();
    store_peers_end();
    if (role.netlink >= 0)
        role.hooks->unwatch(role.netlink);
    close_socket(&role.netlink);
    close_socket(&role.listener);
}

/* ---- may it be the master? ---- */

static store_ready_t among_peers(const store_follower_state_t *s)
{
    return !s->has_asked ? STORE_READY_NOT
           : s->better   ? STORE_READY_BETTER
                         : STORE_READY_YES;
}

/* It has lost its master in the middle of a copy. What it had before is no
 * older than the copy of a slave that has lost its master at that time. In a
 * full space, some of it may have given way to the new copy. After its start,
 * this host waits as one with a whole copy does: another host that starts as
 * well may have newer data. */
static store_ready_t with_old_copy(const store_follower_state_t *s,
                                   int64_t began)
{
    store_ready_t ready = s->connected ? STORE_READY_PART : among_peers(s);

    if (ready != STORE_READY_YES)
        return ready;
    return clock_ms() - began < STORE_FOLLOWER_LOOKS ? STORE_READY_NOT
                                                     : STORE_READY_OLD;
}

/* After the start of all hosts there is no master yet. One that has met none
 * may become it, or nobody could. But not with a part of a copy: another host
 * has more, and an administrator knows which. */
store_ready_t store_role_may_lead(const store_follower_state_t *s,
                                  int64_t began)
{
    uint32_t lacks = STORE_GET(store_region_directory()->lacks);

    if (s->keeps && lacks != STORE_LACKS_ITEMS)
        return among_peers(s);
    if (s->complete)
        return !store_follower_state_is_old(s) ? STORE_READY_YES
               : s->better                     ? STORE_READY_BETTER
                                               : STORE_READY_OLD;
    if (lacks == STORE_LACKS_NEWER)
        return with_old_copy(s, began);
    if (s->has_begun || lacks != STORE_LACKS_NOTHING)
        return STORE_READY_PART;
    if (!s->has_tried || s->was_answered ||
        clock_ms() - began < STORE_FOLLOWER_LOOKS)
        return STORE_READY_NOT;
    return among_peers(s);
}

/* ---- by hand ---- */

const char *store_role_forget(void)
{
    store_follower_state_t s;

    if (store_role() != STORE_SLAVE)
        return "this store is no slave";
    store_follower_state(&s);
    if (s.connected)
        return "this slave follows its master already";
    store_follower_state_forgets();
    store_note(STORE_WARN, "the items of this host are not wanted any more: it "
                           "takes the copy of the next master that it meets");
    return NULL;
}
