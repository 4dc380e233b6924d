/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "store/cluster/backoff.h"

#include <stddef.h>

#define FIRST  1000
#define LAST   60000
#define FORGET (INT64_C(10) * LAST) /* ms since the last one */

/* Its entry; NULL: it has none. */
static const store_backoff_entry_t *find(const store_backoff_t *p,
                                         const store_address_t *address)
{
    unsigned i;

    for (i = 0; i < sizeof p->entry / sizeof *p->entry; i++)
        if (p->entry[i].wait &&
            store_address_equal(&p->entry[i].address, address))
            return &p->entry[i];
    return NULL;
}

static store_backoff_entry_t *free_entry(store_backoff_t *p)
{
    unsigned i;

    for (i = 0; i < sizeof p->entry / sizeof *p->entry; i++)
        if (!p->entry[i].wait)
            return &p->entry[i];
    return &p->entry[0];
}

static int64_t next_wait(const store_backoff_entry_t *e, int64_t now)
{
    if (!e || now - e->until > FORGET)
        return FIRST;
    return 2 * e->wait < LAST ? 2 * e->wait : LAST;
}

void store_backoff_add(store_backoff_t *p, const store_address_t *address,
                       int64_t now)
{
    const store_backoff_entry_t *old = find(p, address);
    store_backoff_entry_t *e = old ? &p->entry[old - p->entry] : free_entry(p);

    e->wait = next_wait(old, now);
    e->address = *address;
    e->until = now + e->wait;
}

int store_backoff_is_over(const store_backoff_t *p,
                          const store_address_t *address, int64_t now)
{
    const store_backoff_entry_t *e = find(p, address);

    return !e || now >= e->until;
}
