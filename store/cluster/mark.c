/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "store/cluster/mark.h"

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
