/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "store/cluster/mark.h"

#include <poll.h>
#include <string.h>

#include "store/cluster/follower_state.h"

#define DRIFT 2000 /* ms in which the clocks may drift apart by 1 ms */

int store_mark_take(store_mark_t *m, const store_packet_t *p)
{
    if (p->number < m->position)
        return -1;
    m->n++;
    m->at_once += (p->bits & STORE_WIRE_AT_ONCE) != 0;
    m->position = p->number;
    m->clock = p->clock;
    m->has_heard = (p->bits & STORE_WIRE_HEARD) != 0;
    m->heard = (uint32_t)p->cas;
    return 0;
}

int64_t store_mark_most(const store_mark_t *m, int64_t now)
{
    return m->has_heard ? (int64_t)((uint32_t)now - m->heard) : -1;
}

static void rise(store_lag_t *l, int64_t now)
{
    int64_t drift = (now - l->least_at) / DRIFT;

    l->least += (uint32_t)drift;
    l->least_at += drift * DRIFT;
}

/* The low bits of both clocks begin again after 49 days. */
int64_t store_lag_of(store_lag_t *l, uint32_t clock, int64_t now)
{
    uint32_t apart = (uint32_t)now - clock;

    if (l->has_least) {
        int32_t lag;

        rise(l, now);
        lag = (int32_t)(apart - l->least);
        if (lag >= 0)
            return lag;
    }
    l->has_least = 1;
    l->least = apart;
    l->least_at = now;
    return 0;
}

/* ---- what the slave says ---- */

#define BEAT 1000 /* ms */

void store_echo_begin(store_echo_t *e, store_stream_t *stream, int64_t now)
{
    memset(e, 0, sizeof *e);
    e->stream = stream;
    e->due = now + BEAT;
}

void store_echo_arrived(store_echo_t *e, int64_t now)
{
    if (e->mark.n == 0)
        e->due = now + BEAT;
}

void store_echo_mark(store_echo_t *e, const store_mark_t *m, int64_t now)
{
    if (m->n == e->mark.n)
        return;
    store_follower_state_mark(m->position, store_lag_of(&e->lag, m->clock, now),
                              store_mark_most(m, now));
    e->at_once |= m->at_once != e->mark.at_once || !m->has_heard;
    e->mark = *m;
}

static void write_rest(store_echo_t *e)
{
    while (e->at < e->n) {
        ssize_t n =
            store_stream_write(e->stream, e->said + e->at, e->n - e->at);

        if (n < 0)
            return;
        e->at += (size_t)n;
    }
    e->at = e->n = 0;
}

static void put_packet(store_echo_t *e, uint8_t opcode, int64_t now)
{
    const store_packet_t p = {
        .opcode = opcode,
        .number = opcode == STORE_WIRE_MARK ? e->mark.position : 0,
        .clock = (uint32_t)now};
    unsigned char bytes[STORE_WIRE_SMALL_MAX];

    e->n = store_wire_put(&p, "", bytes);
    memcpy(e->said, bytes, e->n);
}

/* A yrmcds, and a master of ours that has sent no mark yet, waits for no
 * bye. */
static void put(store_echo_t *e, int64_t now)
{
    if (e->mark.n == 0) {
        e->said[0] = '\0';
        e->n = 1;
    }
    else if (e->bye == 1 && !e->at_once) {
        e->bye = 2;
        put_packet(e, STORE_WIRE_BYE, now);
    }
    else {
        e->at_once = 0;
        put_packet(e, STORE_WIRE_MARK, now);
    }
}

void store_echo_bye(store_echo_t *e)
{
    if (e->bye == 0)
        e->bye = 1;
}

static int is_due(const store_echo_t *e, int64_t now)
{
    return now >= e->due || e->at_once || (e->bye == 1 && e->mark.n > 0);
}

void store_echo_say(store_echo_t *e, int64_t now)
{
    write_rest(e);
    while (e->n == 0 && is_due(e, now)) {
        put(e, now);
        e->due = now + BEAT;
        write_rest(e);
    }
}

short store_echo_events(const store_echo_t *e)
{
    return e->n > 0 ? POLLOUT : 0;
}
