/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "store/cluster/confirm.h"

#include <pthread.h>
#include <string.h>

#include "base/clock_ms.h"
#include "base/store_figures.h"
#include "store/atomic.h"
#include "store/bell.h"
#include "store/cluster/vip.h"
#include "store/memory/changes.h"

#define UNHEARD 1000 /* ms without an answer: it gets no mark any more */

typedef struct {
    int is_member;
    int is_unknown; /* it has not joined this master */
    store_address_t address;
    uint64_t position; /* that it has confirmed */
    uint64_t from;     /* what is before it was not confirmed by it */
    uint64_t marked;   /* of the last mark that was sent */
    int64_t asked_at;  /* ms: a mark has no answer since then; 0: none */
    int64_t until;     /* ms: the end of its lease */
} slave_t;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static slave_t slaves[STORE_SLAVES];
static slave_t gone[STORE_PEERS]; /* without a connection, and with a lease */
static unsigned n_gone;
static int64_t
    last_until;    /* ms: of all leases; atomic, changes under the lock */
static int wanted; /* atomic */

void store_confirm_want(int is_wanted)
{
    STORE_SET(wanted, is_wanted);
}

int store_confirm_is_wanted(void)
{
    return STORE_GET(wanted);
}

/* ---- under the lock ---- */

static int64_t last_of(const slave_t *s, unsigned n, int64_t last)
{
    unsigned i;

    for (i = 0; i < n; i++)
        if (s[i].until > last)
            last = s[i].until;
    return last;
}

static void note_last(void)
{
    STORE_SET(last_until,
              last_of(gone, n_gone, last_of(slaves, STORE_SLAVES, 0)));
}

static void lower(store_confirmed_t *all, const slave_t *s, unsigned n,
                  int64_t now)
{
    unsigned i;

    for (i = 0; i < n; i++) {
        if (s[i].until <= now)
            continue;
        if (s[i].position < all->strict)
            all->strict = s[i].position;
        if (!s[i].is_unknown && s[i].position < all->known)
            all->known = s[i].position;
    }
}

static store_confirmed_t least_now(int64_t now)
{
    store_confirmed_t all = {STORE_CONFIRM_NONE, STORE_CONFIRM_NONE};

    lower(&all, slaves, STORE_SLAVES, now);
    lower(&all, gone, n_gone, now);
    return all;
}

static void remove_gone(unsigned i)
{
    gone[i] = gone[--n_gone];
}

/* The slave is here again, or the lease is over. */
static void forget_gone(const store_address_t *address, int64_t now)
{
    unsigned i = n_gone;

    while (i-- > 0)
        if (gone[i].until <= now ||
            store_address_equal(&gone[i].address, address))
            remove_gone(i);
}

/* Each peer is there once, so there is room for all of them. */
static void add_gone(const slave_t *s, int64_t now)
{
    forget_gone(&s->address, now);
    if (n_gone < STORE_PEERS && s->until > now)
        gone[n_gone++] = *s;
}

/* From now on its confirmation is awaited. What was added before is not, and is
 * counted now: a worker adds a change before it takes the lock. */
static void enter(slave_t *s, int64_t now)
{
    s->until = now + STORE_CONFIRM_LEASE;
    s->from = store_changes_position();
}

/* ---- the set ---- */

/* An address that is not known to be here may be that of another host.
 * @return how many */
static unsigned unknown_peers(const store_cluster_t *config,
                              slave_t to[STORE_PEERS])
{
    int64_t until = clock_ms() + STORE_CONFIRM_LEASE;
    unsigned i, n = 0;

    for (i = 0; config && i < config->n_peers; i++)
        if (!store_address_is_in(config->plain, config->n_plain,
                                 &config->peer[i]) &&
            store_vip_is_here(&config->peer[i]) != 1)
            to[n++] = (slave_t){
                .is_unknown = 1, .address = config->peer[i], .until = until};
    return n;
}

void store_confirm_begin(const store_cluster_t *config)
{
    slave_t unknown[STORE_PEERS];
    unsigned n = unknown_peers(config, unknown);

    store_changes_close();
    pthread_mutex_lock(&lock);
    memset(slaves, 0, sizeof slaves);
    memcpy(gone, unknown, n * sizeof *gone);
    n_gone = n;
    note_last();
    pthread_mutex_unlock(&lock);
}

void store_confirm_joins(unsigned slot, const store_address_t *address)
{
    slave_t *s = &slaves[slot];
    int64_t now = clock_ms();

    pthread_mutex_lock(&lock);
    *s = (slave_t){.is_member = 1, .address = *address};
    enter(s, now);
    forget_gone(address, now);
    note_last();
    pthread_mutex_unlock(&lock);
}

int store_confirm_is_whole(unsigned slot, uint64_t position)
{
    int is_whole;

    pthread_mutex_lock(&lock);
    is_whole = !slaves[slot].is_member || position >= slaves[slot].from;
    pthread_mutex_unlock(&lock);
    return is_whole;
}

/* One whose lease was over may have missed what others have confirmed. */
static int grant(slave_t *s, uint64_t position, int64_t now)
{
    if (s->asked_at != 0 && now - s->asked_at >= UNHEARD)
        return 0;
    if (s->until <= now)
        enter(s, now);
    if (position < s->from)
        return 0;
    if (s->asked_at == 0)
        s->asked_at = now;
    s->marked = position;
    s->until = now + STORE_CONFIRM_LEASE;
    return 1;
}

int store_confirm_grants(unsigned slot, uint64_t position, int64_t now)
{
    slave_t *s = &slaves[slot];
    int granted;

    pthread_mutex_lock(&lock);
    granted = !s->is_member || grant(s, position, now);
    note_last();
    pthread_mutex_unlock(&lock);
    return granted;
}

void store_confirm_heard(unsigned slot, uint64_t position)
{
    slave_t *s = &slaves[slot];
    int64_t now = clock_ms();
    store_confirmed_t least;

    pthread_mutex_lock(&lock);
    if (s->is_member) {
        s->position = position;
        s->asked_at = position >= s->marked ? 0 : now;
    }
    least = least_now(now);
    pthread_mutex_unlock(&lock);
    store_confirm_ring(least.known);
}

void store_confirm_leaves(unsigned slot, int in_order)
{
    slave_t *s = &slaves[slot];
    int64_t now = clock_ms();
    store_confirmed_t least;

    pthread_mutex_lock(&lock);
    if (s->is_member && !in_order)
        add_gone(s, now);
    memset(s, 0, sizeof *s);
    note_last();
    least = least_now(now);
    pthread_mutex_unlock(&lock);
    store_confirm_ring(least.known);
}

store_confirmed_t store_confirm_least(int64_t now)
{
    store_confirmed_t least;

    pthread_mutex_lock(&lock);
    least = least_now(now);
    pthread_mutex_unlock(&lock);
    return least;
}

int store_confirm_is_possible(void)
{
    return clock_ms() < STORE_GET(last_until);
}

void store_confirm_state(unsigned slot, store_confirm_t *to)
{
    pthread_mutex_lock(&lock);
    to->is_member = slaves[slot].is_member;
    to->position = slaves[slot].position;
    to->until = slaves[slot].until;
    pthread_mutex_unlock(&lock);
}

/* ---- workers that wait ---- */

#define LINE 64 /* bytes of the processor's cache: workers write at once */

typedef struct {
    _Alignas(LINE) uint64_t position; /* 0: it does not wait; atomic */
    int is_rung;                      /* atomic */
    int bell;                         /* and 1 more; 0: none; atomic */
} waiter_t;

static waiter_t waiters[STORE_THREADS];

/* Between what one thread writes and then reads, and another one the other way
 * round, only this order is enough. */

void store_confirm_bell(unsigned worker, int bell)
{
    STORE_SET_ORDERED(waiters[worker].position, 0);
    STORE_SET_ORDERED(waiters[worker].bell, bell + 1);
}

void store_confirm_wait(unsigned worker, uint64_t position)
{
    waiter_t *w = &waiters[worker];

    if (position == 0 && STORE_GET_ORDERED(w->position) == 0)
        return;
    STORE_SET_ORDERED(w->is_rung, 0);
    STORE_SET_ORDERED(w->position, position);
}

int store_confirm_is_awaited(void)
{
    unsigned i;

    for (i = 0; i < STORE_THREADS; i++)
        if (STORE_GET(waiters[i].position) != 0)
            return 1;
    return 0;
}

static void ring(waiter_t *w)
{
    int bell = STORE_GET_ORDERED(w->bell) - 1;

    if (bell >= 0 && !__atomic_exchange_n(&w->is_rung, 1, __ATOMIC_SEQ_CST))
        store_bell_ring(bell);
}

void store_confirm_ring(uint64_t least)
{
    unsigned i;

    for (i = 0; i < STORE_THREADS; i++) {
        uint64_t position = STORE_GET_ORDERED(waiters[i].position);

        if (position != 0 && position <= least)
            ring(&waiters[i]);
    }
}
