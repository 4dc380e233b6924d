/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "store/cluster/follower_state.h"

#include <string.h>

#include "base/clock_ms.h"
#include "store/atomic.h"
#include "store/cluster/history.h"
#include "store/memory/extent.h"
#include "store/memory/region.h"

#define REFUSED 10000 /* ms */

static store_follower_state_t state; /* each field is atomic */
static unsigned parts;               /* atomic */

static store_cluster_figures_t *figures(void)
{
    return &store_region_figures()->cluster;
}

void store_follower_state_clear(void)
{
    memset(&state, 0, sizeof state);
}

void store_follower_state_tried(void)
{
    STORE_SET(state.has_tried, 1);
}

void store_follower_state_answered(int answered)
{
    STORE_SET(state.was_answered, answered);
}

void store_follower_state_refused(void)
{
    STORE_SET(state.refused_at, clock_ms());
}

void store_follower_state_yrmcds(int is_yrmcds)
{
    STORE_SET(state.is_yrmcds, is_yrmcds);
    STORE_SET(figures()->yrmcds, (uint64_t)is_yrmcds);
}

/* The next process on this memory may be the master. */
static void set_lacks(uint32_t lacks)
{
    int complete = lacks == STORE_LACKS_NOTHING;

    if (complete)
        store_history_complete();
    STORE_SET(store_region_directory()->lacks, lacks);
    STORE_SET(state.complete, complete);
    STORE_SET(figures()->complete, (uint64_t)complete);
    if (lacks == STORE_LACKS_ITEMS)
        __atomic_add_fetch(&parts, 1, __ATOMIC_RELEASE);
}

void store_follower_state_begins(int is_kept)
{
    STORE_SET(state.has_begun, 1);
    set_lacks(is_kept ? STORE_LACKS_NEWER : STORE_LACKS_ITEMS);
}

void store_follower_state_grows(void)
{
    set_lacks(STORE_LACKS_NEWER);
}

void store_follower_state_complete(int complete)
{
    set_lacks(complete ? STORE_LACKS_NOTHING : STORE_LACKS_ITEMS);
}

unsigned store_follower_state_parts(void)
{
    return STORE_GET_ACQUIRE(parts);
}

/* The next process knows how far the copy is. A part of a copy is nowhere. */
void store_follower_state_mark(uint64_t position, int64_t lag, int64_t most)
{
    store_history_mark(position);
    if (!STORE_GET(state.complete) || most < 0)
        return;
    STORE_SET(state.lag, lag);
    STORE_SET(state.lag_most, most);
    STORE_SET(state.marked_at, clock_ms());
}

int64_t store_follower_state_age(const store_follower_state_t *s)
{
    return s->marked_at == 0 ? -1 : clock_ms() - s->marked_at + s->lag;
}

int store_follower_state_is_stale(const store_follower_state_t *s)
{
    if (s->is_yrmcds)
        return 0;
    return s->marked_at == 0 || s->lag > STORE_LAG_MOST ||
           store_follower_state_age(s) > STORE_LEASE ||
           clock_ms() - s->marked_at + s->lag_most > STORE_LEASE_MOST;
}

/* What it has is whole: a part has no history. */
void store_follower_state_keeps(void)
{
    STORE_SET(state.keeps, 1);
    STORE_SET(figures()->complete, 1);
}

void store_follower_state_forgets(void)
{
    STORE_SET(state.keeps, 0);
    store_follower_state_complete(0);
}

void store_follower_state_better(int is_elsewhere)
{
    STORE_SET(state.better, is_elsewhere);
    STORE_SET(state.has_asked, 1);
}

void store_follower_state_connected(void)
{
    STORE_SET(state.keeps, 0);
    STORE_SET(state.has_asked, 0);
    STORE_SET(state.better, 0);
    STORE_SET(state.since, 0);
    STORE_SET(state.refused_at, 0);
    STORE_SET(state.connected, 1);
    STORE_SET(figures()->connected, 1);
}

void store_follower_state_lost(void)
{
    STORE_SET(state.since, clock_ms());
    STORE_SET(state.connected, 0);
    STORE_SET(figures()->connected, 0);
}

void store_follower_state(store_follower_state_t *to)
{
    to->connected = STORE_GET(state.connected);
    to->complete = STORE_GET(state.complete);
    to->is_yrmcds = STORE_GET(state.is_yrmcds);
    to->has_begun = STORE_GET(state.has_begun);
    to->has_tried = STORE_GET(state.has_tried);
    to->was_answered = STORE_GET(state.was_answered);
    to->keeps = STORE_GET(state.keeps);
    to->has_asked = STORE_GET(state.has_asked);
    to->better = STORE_GET(state.better);
    to->refused_at = STORE_GET(state.refused_at);
    to->marked_at = STORE_GET(state.marked_at);
    to->lag = STORE_GET(state.lag);
    to->lag_most = STORE_GET(state.lag_most);
    to->since = STORE_GET(state.since);
}

int store_follower_state_is_refused(const store_follower_state_t *s)
{
    return s->refused_at != 0 && clock_ms() - s->refused_at < REFUSED;
}

int store_follower_state_is_old(const store_follower_state_t *s)
{
    return s->complete && (store_follower_state_is_refused(s) ||
                           store_follower_state_is_stale(s));
}
