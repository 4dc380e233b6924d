/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "store/cluster/confirm_wait.h"

#include "base/store_figures.h"
#include "store/bell.h"

#define LINE 64 /* bytes of the processor's cache: workers write at once */

typedef struct {
    _Alignas(LINE) uint64_t position; /* 0: it does not wait; atomic */
    int is_rung;                      /* atomic */
    int bell;                         /* and 1 more; 0: none; atomic */
} waiter_t;

static waiter_t waiters[STORE_THREADS];

/* Between what one thread writes and then reads, and another one the other way
 * round, only this order is enough. */
#define LOAD(field)         __atomic_load_n(&(field), __ATOMIC_SEQ_CST)
#define STORE(field, value) __atomic_store_n(&(field), value, __ATOMIC_SEQ_CST)

void store_confirm_bell(unsigned worker, int bell)
{
    STORE(waiters[worker].position, 0);
    STORE(waiters[worker].bell, bell + 1);
}

void store_confirm_wait(unsigned worker, uint64_t position)
{
    waiter_t *w = &waiters[worker];

    if (position == 0 && LOAD(w->position) == 0)
        return;
    STORE(w->is_rung, 0);
    STORE(w->position, position);
}

int store_confirm_is_awaited(void)
{
    unsigned i;

    for (i = 0; i < STORE_THREADS; i++)
        if (__atomic_load_n(&waiters[i].position, __ATOMIC_RELAXED) != 0)
            return 1;
    return 0;
}

static void ring(waiter_t *w)
{
    int bell = LOAD(w->bell) - 1;

    if (bell >= 0 && !__atomic_exchange_n(&w->is_rung, 1, __ATOMIC_SEQ_CST))
        store_bell_ring(bell);
}

void store_confirm_ring(uint64_t least)
{
    unsigned i;

    for (i = 0; i < STORE_THREADS; i++) {
        uint64_t position = LOAD(waiters[i].position);

        if (position != 0 && position <= least)
            ring(&waiters[i]);
    }
}
