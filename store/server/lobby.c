/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "store/server/lobby.h"

static uint32_t n; /* atomic */

/* Only the main thread lets clients in, so there are never too many. */
int store_lobby_enter(store_served_t *s)
{
    if (__atomic_load_n(&n, __ATOMIC_RELAXED) >= STORE_LOBBY_MAX)
        return -1;
    __atomic_add_fetch(&n, 1, __ATOMIC_RELAXED);
    __atomic_add_fetch(&s->locked, 1, __ATOMIC_RELAXED);
    return 0;
}

void store_lobby_leave(store_served_t *s)
{
    __atomic_sub_fetch(&n, 1, __ATOMIC_RELAXED);
    /* The main thread may free the space now. */
    __atomic_sub_fetch(&s->locked, 1, __ATOMIC_ACQ_REL);
}

int store_lobby_is_empty(void)
{
    return __atomic_load_n(&n, __ATOMIC_RELAXED) == 0;
}
